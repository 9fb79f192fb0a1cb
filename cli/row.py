"""cli: ``kerncast row``: the first row of the Toeplitz kernel matrix of samples of any number."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..sim.errors import fail
from .progress import bar
from .shell import JsonFlag, show

if TYPE_CHECKING:
    from ..sim.data.samples import Samples

Data = Annotated[str, typer.Argument(metavar="DATA", help="A file of samples, or a data set by its name.",
                                     show_default=False)]
Sigma = Annotated[float, typer.Option(help="Width of the Gaussian kernel, in the unit of the inputs.",
                                      show_default=False)]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The NPZ file to write.",
                                      show_default=False)]
Scheme = Annotated[str, typer.Option(help="auto, uniform, diagonal_mean, diagonal_mean_biased or rff.")]
Precision = Annotated[str, typer.Option("--dtype", help="Of the kernel values: float64 or float32.")]
Scheduler = Annotated[str | None, typer.Option(metavar="ADDR", help=(
    "Of a dask.distributed scheduler, whose workers then do the work, such as tcp://10.0.0.1:8786."))]
Checkpoint = Annotated[Path | None, typer.Option(metavar="FILE", help=(
    "Keeps what is done; the same command goes on from there."))]
Limit = Annotated[int | None, typer.Option(help="Take so many samples at most.", show_default="all")]
Labels = Annotated[bool, typer.Option("--labels", help="The target of DATA is a class label of any kind.")]

#: What takes hours where it is many samples: the schemes that a checkpoint and a cluster serve.
_MEANS = ("diagonal_mean", "diagonal_mean_biased")


def row(data: Data, sigma: Sigma, output: Output, scheme: Scheme = "auto", dtype: Precision = "float64",
        scheduler: Scheduler = None, checkpoint: Checkpoint = None, limit: Limit = None,
        labels: Labels = False, as_json: JsonFlag = False) -> None:
    """Compute the first row of the Toeplitz kernel matrix of samples, in O(n) memory.

    The NPZ file holds r, the row, of shape (n,), lambda not yet added to r[0]; and sigma, scheme, dtype.
    Ctrl-C leaves a whole checkpoint, from which the same command goes on, to the same bits; without
    --checkpoint what was done is lost. scheme uniform takes no time, so it needs neither checkpoint nor
    cluster, and rff does not take them.

    Examples
    --------
    kerncast row ecg --sigma 2 -o row.npz
    kerncast row samples.csv --sigma 5 --dtype float32 --checkpoint done.npz -o row.npz
    kerncast row samples.csv --sigma 5 --scheduler tcp://10.0.0.1:8786 -o row.npz
    """
    from ..sim.data.samples import load_samples

    _check_places(data, output, checkpoint)
    samples = load_samples(data, limit=limit, labels="any" if labels else None)
    chosen = _scheme(samples, scheme)
    if chosen == "uniform" and (scheduler or checkpoint):
        typer.echo("scheme uniform takes no time: no checkpoint is kept, no cluster is asked", err=True)
        scheduler = checkpoint = None
    try:
        found = _computed(samples, sigma, chosen, as_json, dtype=dtype, scheduler=scheduler,
                          checkpoint=checkpoint, output=output)
    except KeyboardInterrupt:
        if chosen in _MEANS:
            typer.echo(_left(checkpoint), err=True)
        raise
    show(found, as_json, f"{samples.title}: first row of {found['n']:,} samples, {found['columns']} columns\n"
         f"scheme {chosen}, {dtype}, sigma {sigma:g}: {found['seconds']:.3g} s\n"
         f"{output}: {found['bytes']:,} bytes")


def _left(checkpoint: Path | None) -> str:
    """What an interruption leaves."""
    if checkpoint is None:
        return "nothing was kept: with --checkpoint FILE the next run can be continued"
    return f"{checkpoint} is whole: the same command goes on from there" if checkpoint.exists() else \
        "nothing was done yet"


def _check_places(data: str, output: Path, checkpoint: Path | None) -> None:
    """E192 where a file would be written over another, E191 where it cannot: now, and not after hours."""
    from ..lab.output_paths import refuse_unwritable

    places = {"DATA": Path(data), "--checkpoint": checkpoint, "--output": output}
    given = {name: path.resolve() for name, path in places.items() if path is not None}
    for name in ("--checkpoint", "--output"):
        same = [other for other, path in given.items() if other != name and path == given.get(name)]
        if same:
            raise fail("E192", f"{name} and {same[0]} are the same file", where=name, value=str(places[name]),
                       allowed="a file of its own", remedy="name another file")
    refuse_unwritable(output, "--output", "the first row")


def _scheme(samples: Samples, scheme: str) -> str:
    """The scheme that auto stands for."""
    from ..sim.reference.first_row import choose_scheme

    return choose_scheme(samples.X) if scheme == "auto" else scheme


def _computed(samples: Samples, sigma: float, scheme: str, as_json: bool, *, dtype: str, output: Path,
              scheduler: str | None, checkpoint: Path | None) -> dict[str, Any]:
    """Compute the row and write it; what is to be said of it."""
    import numpy as np

    from ..sim.reference.first_row import first_row
    from ..sim.reference.first_row.checkpoint import write_npz

    start = perf_counter()
    with bar(as_json, "first row") as progress:
        r = first_row(samples.X, sigma, scheme, dtype=dtype, progress=progress, scheduler=scheduler,
                      checkpoint=checkpoint)
    seconds = perf_counter() - start
    write_npz(output, "first row", r=r, sigma=np.array(sigma), scheme=np.array(scheme), dtype=np.array(dtype))
    n, columns = samples.X.shape
    return {"output": str(output), "title": samples.title, "n": n, "columns": columns, "sigma": sigma,
            "scheme": scheme, "dtype": dtype, "seconds": seconds, "bytes": output.stat().st_size}
