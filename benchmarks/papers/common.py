"""Functions for data, timing, tables and plots that the pages on papers share."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...lab.figures.style import pyplot
from ...sim._arrays import Array as Array
from ...sim.data.samples import Samples, load_samples
from ...sim.errors import KerncastError

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"

REPEATS, LONG = 3, 1.0  # number of runs; a single one if it takes this many seconds


def seconds(run: Callable[[], Any]) -> float:
    """Return the minimum CPU time of several runs of a function.

    CPU time is not affected by other work on the machine.
    """
    taken: list[float] = []
    while len(taken) < REPEATS and (not taken or taken[0] < LONG):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    return min(taken)


def table(rows: Iterable[Sequence[object]], headers: Sequence[str]) -> str:
    """Return a Markdown table; numbers are aligned to the right."""
    lines = [f"| {' | '.join(headers)} |", f"|{'|'.join(['---'] + ['--:'] * (len(headers) - 1))}|"]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])


def loaded(name: str, copies: dict[str, str]) -> Samples | None:
    """Load a data set. If it is not available, print a message and return None."""
    try:
        return load_samples(name, copy=copies.get(name))
    except KerncastError as error:
        print(f"left out: {error}")
        return None


def shuffled(samples: Samples, positive: object, seed: int = 0) -> tuple[Array, Array]:
    """Shuffle samples, and scale the columns to [-1, 1].

    Targets are +1 for the class `positive`, and -1 for all others.
    """
    order = np.random.default_rng(seed).permutation(len(samples.X))
    low, high = samples.X.min(axis=0), samples.X.max(axis=0)
    X = 2.0 * (samples.X[order] - low) / np.where(high > low, high - low, 1.0) - 1.0
    return X, np.where(samples.y[order] == positive, 1.0, -1.0)


def arguments(doc: str | None) -> dict[str, str]:
    """Parse options ``--copy NAME=PATH``; return the paths of local data sets by name."""
    import argparse

    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copy", action="append", default=[], metavar="NAME=PATH",
                        help="the user's copy of a data set that no package brings")
    return dict(given.split("=", 1) for given in parser.parse_args().copy)


def axes(count: int, width: float = 3.2, height: float = 2.8) -> tuple[Any, list[Any]]:
    """Create a figure with `count` panels side by side; return it and its axes."""
    figure, panels = pyplot().subplots(1, count, figsize=(width * count, height), layout="constrained",
                                       squeeze=False)
    return figure, list(panels[0])


def save(figure: Any, name: str) -> str:
    """Write docs/figures/NAME.svg; return its path from a subfolder of docs."""
    folder = DOCS / "figures"
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None})
    path.write_text(with_counted_ids(path.read_text(encoding="utf-8")), encoding="utf-8")
    return f"../figures/{name}.svg"


def with_counted_ids(svg: str) -> str:
    """Replace the ids of an SVG by counts.

    Matplotlib hashes coordinates of full precision, whose last bits depend on the processor.
    """
    counts: dict[str, str] = {}
    return re.sub(r'(?<=="|"#|\(#)([a-z])[0-9a-f]{10}(?=["\)])',
                  lambda each: counts.setdefault(each[0], f"{each[1]}{len(counts)}"), svg)
