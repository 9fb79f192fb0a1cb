"""lab: draw throughput, look-up tables and DSP blocks against the number of lanes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from ...hw.rtl.estimate import PLACED, Estimate
from ...sim._output_files import refuse_unwritable, whole_file
from ...sim.errors import fail
from .style import BLACK, BLUE, GREEN, GREY, ORANGE, PINK, SKY, pyplot

#: By the ending of a file's name what keeps date and version out of it: the same figures give the same bytes.
ENDINGS: dict[str, dict[str, None]] = {".svg": {"Date": None}, ".png": {"Software": None},
                                       ".pdf": {"CreationDate": None}}
# One colour per core, one dash per family.
_COLOURS, _DASHES = (BLUE, ORANGE, GREEN, PINK, BLACK, SKY, GREY), ("-", "--", ":")

# A line: core, family, lanes, values.
Line = tuple[str, str, list[int], list[float]]


def check_picture(path: Path) -> None:
    """Check that :func:`draw_lanes` can write a file, before the estimation.

    Raises
    ------
    KerncastError
        E254 if the suffix is not supported, E191 if the file cannot be written, E501 if matplotlib is not
        installed.
    """
    if path.suffix not in ENDINGS:
        raise fail("E254", "kerncast cannot write a file with this suffix", where="--plot", value=path.name,
                   allowed=", ".join(ENDINGS), remedy="name a file such as lanes.svg")
    refuse_unwritable(path, "--plot", "the picture")
    pyplot()


def draw_lanes(found: Sequence[Estimate], path: Path) -> Path:
    """Draw samples per second, look-up tables and DSP blocks by number of lanes.

    Samples per second are those on the ECP5. A core that was not placed has no point there.

    Parameters
    ----------
    found : sequence of Estimate
    path : Path
        A file that :func:`check_picture` accepts.

    Returns
    -------
    Path
        The file that was written.
    """
    families = list(dict.fromkeys(family for one in found for family in one.area))
    rates = list(_lines(found, [PLACED], lambda one, _: one.samples_per_second))
    panels = [("samples per second", rates)] if rates else []
    panels += [("look-up tables", list(_lines(found, families, _cells("lut")))),
               ("hardware multipliers (DSP blocks)", list(_lines(found, families, _cells("dsp"))))]
    plt = pyplot()
    figure, row = plt.subplots(1, len(panels), figsize=(3.4 * len(panels), 3.0), layout="constrained",
                               squeeze=False)
    try:
        colours = dict(zip(dict.fromkeys(one.core for one in found), _COLOURS, strict=False))
        for axes, (title, lines) in zip(row[0], panels, strict=True):
            _panel(axes, title, lines, colours, families)
        handles = {line.get_label(): line for axes in row[0] for line in axes.get_lines()}
        figure.legend(handles.values(), handles, loc="outside lower center", ncols=4, frameon=False)
        with whole_file(path) as part:
            figure.savefig(part, dpi=110, format=path.suffix[1:], metadata=ENDINGS[path.suffix])
    finally:
        plt.close(figure)
    return path


def _cells(kind: str) -> Callable[[Estimate, str], float | None]:
    """Return a function for the number of cells of a kind in a family.

    The function returns None if the core was not synthesised.
    """
    return lambda one, family: one.area[family].as_dict()[kind] if family in one.area else None


def _lines(found: Sequence[Estimate], families: Sequence[str],
           value: Callable[[Estimate, str], float | None]) -> Iterable[Line]:
    """Yield a curve for each core and family: known values by number of lanes."""
    for core in dict.fromkeys(one.core for one in found):
        for family in families:
            points = sorted((one.lanes, known) for one in found if one.core == core
                            for known in [value(one, family)] if known is not None)
            if points:
                yield core, family, [lanes for lanes, _ in points], [known for _, known in points]


def _panel(axes: Any, title: str, lines: Sequence[Line], colours: dict[str, str],
           families: Sequence[str]) -> None:
    from matplotlib.ticker import EngFormatter

    for core, family, lanes, values in lines:
        axes.plot(lanes, values, _DASHES[families.index(family)], marker="o", ms=4, color=colours[core],
                  label=f"{core}, {family}" if len(families) > 1 else core)
    ticks = sorted({number for _, _, lanes, _ in lines for number in lanes})
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [str(number) for number in ticks])
    axes.margins(y=0.1)
    axes.set_ylim(bottom=0)
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.yaxis.set_major_formatter(EngFormatter(sep=" "))
    axes.set_xlabel("lanes")
    axes.set_title(title, fontsize=10)
    axes.grid(alpha=0.3)
