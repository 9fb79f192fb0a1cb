"""lab: common colours and matplotlib settings of all figures."""

from __future__ import annotations

from typing import Any

from ...sim._optional import in_command
from ...sim.errors import fail

#: Colours of Okabe and Ito's "Color Universal Design" (2008), with grey and brown added.
BLACK, BLUE, ORANGE, GREEN, PINK, GREY = "#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#9a9a9a"
SKY, YELLOW, BROWN = "#56b4e9", "#e69f00", "#8c6d31"
#: Colours of lines, in order of use; the last three are for many lines.
COLOURS = (BLACK, BLUE, ORANGE, GREEN, PINK, GREY)
MORE_COLOURS = (*COLOURS, BROWN, SKY, YELLOW)


def pyplot() -> Any:
    """Return matplotlib.pyplot, set up for files; raise E501 if it is not installed."""
    try:
        import matplotlib

        if in_command():  # not the matplotlibrc of the working folder
            matplotlib.rcdefaults()
        matplotlib.use("Agg")
        # SVG files with text as text, and the same bytes every time.
        matplotlib.rcParams |= {"svg.hashsalt": "kerncast", "svg.fonttype": "none"}
        import matplotlib.pyplot as plt
    except ImportError:
        raise fail("E501", "figures need matplotlib, which is not installed", where="report",
                   allowed="the packages of the extra report",
                   remedy="python -m pip install matplotlib") from None
    return plt
