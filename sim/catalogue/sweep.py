"""sim: catalogue entries for sweeps and reports."""

from __future__ import annotations

from ..errors import Entry

SWEEP = {
    "E360": Entry("not an axis of a sweep",
                  "An axis is a key of the spec with its values: --grid numbers.word=16,24,32, or "
                  "kernel.sigma=1..10/9 for nine values at equal ratios. In the spec it is a line below "
                  "[sweep.grid].",
                  "Write the axis in one of these forms."),
    "E361": Entry("no axis to sweep", "Neither [sweep.grid] nor --grid names a key.",
                  "Name at least one key with its values."),
    "E362": Entry("no such measure", "An objective or a limit names an unknown measure.",
                  "Use one of the names listed under `allowed`."),
    "E363": Entry("not a limit",
                  "A limit is a measure, <= or >=, and a number with a unit of that measure: ram <= 8 kB "
                  "(8,000 bytes; 8 KiB are 8,192). An error may be compared with float64 and the spec as "
                  "written: error <= float + 1.",
                  "Write the limit in this form, in quotes."),
    "E364": Entry("float64 has no solution to compare with",
                  "float64 cannot solve the spec as written, so `float` has no value in a limit.",
                  "Raise lambda in the spec, or give the limit as a number."),
    "E365": Entry("no sweep in the folder", "The folder has no sweep.db with the results of a sweep.",
                  "Name the folder that `kerncast sweep SPEC -o FOLDER` wrote."),
    "E366": Entry("the results of a sweep are damaged",
                  "sweep.db has an unknown format, comes from an earlier version, or has rows that do not "
                  "match their digest. Reading changes nothing.",
                  "Run the same sweep again: it keeps the valid results, computes the others again, and "
                  "renames the damaged file. If no result is valid, move the file away, or name another "
                  "folder with -o."),
    "E367": Entry("the folder contains another sweep",
                  "The folder has results of another spec, other data or another version.",
                  "Name another folder with -o."),
    "E368": Entry("the grid is too large",
                  "The number of points, which is the product of the numbers of values of all keys, exceeds "
                  "the limit.",
                  "Search with --trials, or use fewer values."),
    "E369": Entry("the plan differs from the sweep's",
                  "The plan made for --confirm differs from the plan of the point, so another version ran "
                  "the sweep.",
                  "Run the sweep again in a new folder."),
    "E370": Entry("no design satisfies every limit",
                  "The message lists each limit and by how much the best design exceeds it. The folder keeps "
                  "all results.",
                  "Relax one of the limits in the message, or sweep more values."),
    "E371": Entry("the path contains nothing to report on",
                  "A report needs the folder of a sweep, a folder made by kerncast gen, or a spec.",
                  "Run `kerncast sweep SPEC -o FOLDER`, then `kerncast report FOLDER`."),
    "E372": Entry("the file does not contain results of back ends",
                  "The agreement of back ends is read from the JSON of kerncast test, verify, demo, or sweep "
                  "--confirm. This file does not exist or contains something else.",
                  "Write it with `kerncast test OUT --on host --json > FILE`."),
    "E373": Entry("the sweep has no points yet", "The sweep was interrupted before it stored the first "
                                                 "point.",
                  "Run the same sweep again; it resumes."),
    "E374": Entry("the port is not available",
                  "kerncast explore listens on a port of this machine. Another program uses this port, or it "
                  "is reserved.",
                  "Omit --port to use any free port."),
    "E375": Entry("no parameters to explore",
                  "kerncast explore varies the parameters of training, and a model trained elsewhere has "
                  "none.",
                  "Run `kerncast report SPEC` to see the model."),
    "E376": Entry("not a request of this page",
                  "A page of kerncast explore asked for a value or a design that this run does not offer. "
                  "The page is from another run.",
                  "Load the page again."),
    "E377": Entry("another sweep is running in the folder",
                  "Two sweeps in one folder would mix their results.",
                  "Wait until it ends, or name another folder with -o. A sweep that was killed does not "
                  "block the "
                  "folder."),
}
