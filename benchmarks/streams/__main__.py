"""Write docs/measured/streams.md.

    python -m kerncast.benchmarks.streams [equalise|predict|drift|on_board ...]

All sections are measured; if names are given, only these sections are measured, and the others are kept. This
requires padasip, matplotlib, unicorn and qemu-system-arm.
"""

from __future__ import annotations

import sys

from ..papers.common import DOCS
from . import drift, equalise, on_board, predict

PAGE = DOCS / "measured" / "streams.md"
HEAD = """# Streams: kernel LMS compared with linear adaptive filters

`python -m kerncast.benchmarks.streams` writes this page. Kernel LMS (least mean squares) is compared with the
linear filters of padasip: LMS, NLMS (normalised LMS) and RLS (recursive least squares). Every method
processes the samples once, in the same order, and predicts each sample before it learns the sample. The
linear filters have one additional input that is always 1.

KLMS, MKLMS, FKLMS and FMKLMS are kernel LMS with different reductions. F stands for fast, and the methods
with M also use the magnitude of the coefficient. NT evicts the smallest coefficient. QKLMS is NT with
quantisation: a sample near a stored vector updates the coefficient of that vector. Kernel LMS halves the bit
errors of the best linear filter on a nonlinear channel. The next sample of an ECG is nearly a linear function
of the previous samples. On the ECG, kernel LMS without a linear part is worse than linear RLS, and kernel LMS
with a linear part (QKLMS + RLS) is better.
"""
SECTIONS = {"equalise": equalise, "predict": predict, "drift": drift, "on_board": on_board}


def main() -> None:
    """Run the measurements, and write the page and its figures."""
    wanted = sys.argv[1:] or list(SECTIONS)
    kept = PAGE.read_text(encoding="utf-8").split("\n## ")[1:] if sys.argv[1:] else [""] * len(SECTIONS)
    text = [HEAD, *(part.section() if name in wanted else f"## {old.rstrip()}\n"
                    for (name, part), old in zip(SECTIONS.items(), kept, strict=True))]
    PAGE.write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
