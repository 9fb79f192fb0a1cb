"""cli: ``kerncast row``: compute the first row of the Toeplitz kernel matrix.

This hidden command is for research.
"""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..sim.errors import fail
from ._options import JsonFlag
from ._output import Answer, emit
from ._progress import bar

if TYPE_CHECKING:
    from ..sim.data.samples import Samples

Data = Annotated[str, typer.Argument(metavar="DATA", help="A file of samples, or the name of a data set.",
                                     show_default=False)]
Sigma = Annotated[float, typer.Option(metavar="WIDTH", show_default=False,
                                      help="Width of the Gaussian kernel, in the unit of the inputs.")]
Out = Annotated[Path | None, typer.Option("-o", "--out", metavar="FILE", help="NPZ file to write.",
                                          show_default=False)]
OldOut = Annotated[Path | None, typer.Option("--output", hidden=True)]
Scheme = Annotated[str, typer.Option(metavar="NAME",
                                     help="auto, uniform, diagonal_mean, diagonal_mean_biased or rff.")]
Precision = Annotated[str, typer.Option("--dtype", metavar="NAME",
                                        help="Precision of the kernel values: float64 or float32.")]
Scheduler = Annotated[str | None, typer.Option(
    metavar="ADDR", show_default=False,
    help="Compute on the workers of this dask.distributed scheduler, such as tcp://10.0.0.1:8786.")]
Checkpoint = Annotated[Path | None, typer.Option(
    metavar="FILE", show_default=False, help="Save the progress in this file; run the same command again to "
                                             "resume.")]
Limit = Annotated[int | None, typer.Option(metavar="COUNT", help="Maximum number of samples to load.",
                                           show_default="all")]
Labels = Annotated[bool, typer.Option("--labels", help="Accept class labels of any kind as targets.")]


# The schemes that take a mean of each diagonal, band by band.
_MEANS = ("diagonal_mean", "diagonal_mean_biased")


def row(data: Data, sigma: Sigma, out: Out = None, output: OldOut = None, scheme: Scheme = "auto",
        dtype: Precision = "float64", scheduler: Scheduler = None, checkpoint: Checkpoint = None,
        limit: Limit = None, labels: Labels = False, as_json: JsonFlag = False) -> None:
    r"""Compute the first row of the Toeplitz kernel matrix.

    The computation needs O(n) memory. The NPZ file contains the row r of shape (n,), without lambda on r[0],
    and sigma, scheme and dtype. If you press Ctrl-C, a valid checkpoint remains. The same command resumes
    from it, and the result is identical. Without --checkpoint, the progress is lost. The scheme uniform takes
    almost no time, and needs neither a checkpoint nor a cluster. The scheme rff supports neither.

    Examples
    --------
    kerncast row ecg --sigma 2 -o row.npz
    kerncast row samples.csv --sigma 5 --dtype float32 \
        --checkpoint done.npz -o row.npz
    kerncast row data.csv --sigma 5 -o row.npz --scheduler tcp://10.0.0.1:8786
    """
    from ..sim.data.samples import load_samples

    file = out or output
    if file is None:
        raise fail("E194", "no output file is given", where="kerncast row", value="nothing",
                   allowed="-o FILE", remedy="name the output file, such as -o row.npz")
    _check_places(data, file, checkpoint)
    samples = load_samples(data, limit=limit, labels="any" if labels else None)
    chosen = _scheme(samples, scheme)
    if chosen == "uniform" and (scheduler or checkpoint):
        typer.echo("--scheme uniform needs neither a checkpoint nor a cluster, so neither is used", err=True)
        scheduler = checkpoint = None
    try:
        found = _computed(samples, sigma, chosen, as_json, dtype=dtype, scheduler=scheduler,
                          checkpoint=checkpoint, output=file)
    except KeyboardInterrupt:
        if chosen in _MEANS:
            typer.echo(_left(checkpoint), err=True)
        raise
    emit(Answer(found, f"{samples.title}: first row of {found['n']:,} samples, {found['columns']} columns\n"
                f"scheme {chosen}, {dtype}, sigma {sigma:g}: {found['seconds']:.3g} s\n"
                f"{file}: {found['bytes']:,} bytes"), as_json)


def _left(checkpoint: Path | None) -> str:
    """Return a description of the results that remain after an interruption."""
    if checkpoint is None:
        return "nothing was saved; to resume an interrupted run, start it with --checkpoint FILE"
    if checkpoint.exists():
        return f"the progress is saved in {checkpoint}: run the same command again to resume"
    return "nothing was saved, because no part of the first row was complete"


def _check_places(data: str, output: Path, checkpoint: Path | None) -> None:
    """Check the output files, before the computation.

    Raises E192 if a file would be overwritten, and E191 if it cannot be written.
    """
    from ..sim._output_files import refuse_unwritable

    places = {"DATA": Path(data), "--checkpoint": checkpoint, "--out": output}
    given = {name: os.path.realpath(path) for name, path in places.items() if path is not None}
    for name in ("--checkpoint", "--out"):
        same = [other for other, path in given.items() if other != name and path == given.get(name)]
        if same:
            raise fail("E192", f"{name} and {same[0]} are the same file", where=name, value=str(places[name]),
                       allowed="another file", remedy="name another file")
    refuse_unwritable(output, "--out", "the first row")
    if checkpoint is not None:
        refuse_unwritable(checkpoint, "--checkpoint", "the checkpoint")


def _scheme(samples: Samples, scheme: str) -> str:
    """Return the scheme; `auto` is replaced by the best scheme for these samples."""
    from ..sim.reference.first_row import choose_scheme

    return choose_scheme(samples.X) if scheme == "auto" else scheme


def _computed(samples: Samples, sigma: float, scheme: str, as_json: bool, *, dtype: str, output: Path,
              scheduler: str | None, checkpoint: Path | None) -> dict[str, Any]:
    """Compute the first row, and write it to a file with sigma, scheme and dtype.

    Returns a description of the result.
    """
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
