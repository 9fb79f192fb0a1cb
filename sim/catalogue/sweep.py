"""sim: the part of the catalogue that tells of sweeps."""

from __future__ import annotations

from ..errors import Entry

SWEEP = {
    "E360": Entry("no axis of a sweep",
                  "An axis is a key of the spec and what it takes: --grid numbers.word=16,24,32, or "
                  "kernel.sigma=1..10/9 for nine values at equal ratios; in the spec a line below "
                  "[sweep.grid].",
                  "Write it in one of these forms."),
    "E361": Entry("nothing is swept", "Neither [sweep.grid] nor --grid names a key.",
                  "Name at least one key with its values."),
    "E362": Entry("no such measure", "Objectives and limits name what a sweep measures or computes.",
                  "Use one of the names listed."),
    "E363": Entry("no limit",
                  "A limit is a measure, <= or >=, and a number with a unit of that measure: ram <= 8 kB "
                  "(8000 bytes; 8 KiB are 8192). Errors may be held against float64 with the spec as "
                  "written: error <= float + 1.",
                  "Write it in this form, in quotes."),
    "E364": Entry("float64 has no answer to compare with",
                  "The spec as written has none in float64, so that `float` in a limit means nothing.",
                  "Raise lambda in the spec, or give the limit as a number."),
    "E365": Entry("no sweep in the folder", "The folder holds no sweep.db that a sweep has begun.",
                  "Name the folder that `kerncast sweep SPEC -o FOLDER` wrote."),
    "E366": Entry("the results of a sweep are damaged",
                  "sweep.db is no file of ours, of an earlier version, or not as it was written: each row "
                  "has a digest. A reader changes nothing.",
                  "Run the same sweep again: results that are sound are kept, the others computed again, "
                  "and the damaged file is left beside. Where none is sound, move the file away, or name "
                  "another -o."),
    "E367": Entry("the folder holds another sweep",
                  "Results of another spec, other data or another version do not belong together.",
                  "Name another -o."),
    "E368": Entry("the grid is too large",
                  "Every value of each key with every one of all others makes too many points to try.",
                  "Search with --trials, or take fewer values."),
    "E369": Entry("the plan is not the one of the sweep",
                  "The plan made for --confirm differs from that of the point: results of another version.",
                  "Run the sweep again in a new folder."),
    "E370": Entry("no design keeps every limit",
                  "The message says by how much each limit is missed by the best design within the others. "
                  "All results are kept.",
                  "Loosen one of the limits named, or sweep more values."),
    "E371": Entry("nothing to report on",
                  "A report is made of the folder of a sweep, of one made by kerncast gen, or of a spec.",
                  "Run `kerncast sweep SPEC -o FOLDER`, then `kerncast report FOLDER`."),
    "E372": Entry("no results of back ends",
                  "Agreement of back ends is read from the JSON of kerncast test, verify, demo, or sweep "
                  "--confirm; this file is missing or holds something else.",
                  "Write it with `kerncast test OUT --on host --json > FILE`."),
    "E373": Entry("the sweep has no points yet", "It was interrupted before the first point was kept.",
                  "Run the command of the sweep again: it goes on."),
    "E374": Entry("the port cannot be had",
                  "kerncast explore listens on a port of this machine: another program has it, or it is "
                  "reserved.",
                  "Leave --port away, and any free one is taken."),
    "E375": Entry("nothing to drag",
                  "A model that was trained elsewhere is all constants; kerncast explore varies what is "
                  "trained.",
                  "`kerncast report SPEC` shows it."),
    "E376": Entry("not a question of this page",
                  "A page of kerncast explore asked for a value or a design that this run does not offer: it "
                  "was left open from another run.",
                  "Load the page again."),
    "E377": Entry("another sweep is at work in the folder",
                  "Two sweeps at once would each answer for the grid of the other.",
                  "Wait until it ends, or name another -o. A sweep that was killed holds nothing."),
}
