"""cli: ``kerncast plan``: show the decisions of the planner and their reasons."""

from __future__ import annotations

import json
import math
import textwrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._options import JsonFlag, SpecPath
from ._output import Answer, emit, print_json, table
from ._spec import load_spec, warnings_of

if TYPE_CHECKING:
    from pathlib import Path

    from ..sim.plan import Plan
    from ..sim.spec import Spec

Why = Annotated[str | None, typer.Option("--why", metavar="SIGNAL", help="Explain one signal.",
                                         show_default=False)]
Asked = Annotated[float | None, typer.Option(
    "--error", metavar="E", min=1e-12, max=1.0, show_default=False,
    help="Find the word length that achieves this relative error of alpha: predicted for toeplitz_rls, "
         "measured on the data for kernel_cg.")]

#: Signals whose error depends on the conditioning of the system.
_SOLVED = ("a", "xi", "eps", "innov", "alpha")


def plan(path: SpecPath, why: Why = None, error: Asked = None, as_json: JsonFlag = False) -> None:
    """Show formats, memory and operation counts, and why.

    If the spec has data, the integer model runs on them to show how much of each format is used. For signals
    with a block exponent, the table shows the exponent at the end of the run, and its range.

    If a Toeplitz trainer is equivalent to a linear filter, the taps of the filter are printed, too.

    Examples
    --------
    kerncast plan ecg.toml
    kerncast plan ecg.toml --why alpha
    kerncast plan ecg.toml --error 1e-4
    kerncast plan ecg.toml --json
    """
    from ..lab.workflow import observed_plan
    from ..sim.diagnostics.filter import filter_of

    spec = load_spec(path)
    if error is not None:
        _advise(spec, path.parent, error, as_json)
        return
    made = observed_plan(spec, path.parent)
    if why is not None:
        text = _explanation(spec, path.parent, made, why)
        emit(Answer({"signal": why, "why": text, "evidence": made.evidence[why]}, text), as_json)
    elif as_json:
        found = filter_of(made)
        from ..codegen.c.contract import costs_of_parts

        fir = None if found is None else {"taps": found.taps.tolist(), "error": found.error}
        print_json(json.loads(made.to_json()) | {"filter": fir, "stream": made.evidence.get("stream"),
                                                 "parts": costs_of_parts(made),
                                                 "warnings": warnings_of(spec, made, as_json)})
    else:
        after = ("kerncast", "gen", str(path), "-o", f"build/{made.name}")
        emit(Answer({}, "\n\n".join([_text(made), *(_stream(made) or _filter(made))]), after), as_json)
        warnings_of(spec, made, as_json)


def _explanation(spec: Spec, base: Path, made: Plan, signal: str) -> str:
    """Return an explanation of the decisions for one signal.

    If the error of the signal depends on a linear system, the conditioning of the system is described, too.
    """
    from ..lab.word_lengths import system_of
    from ..sim.diagnostics.observed import why
    from ..sim.diagnostics.word_length import describe

    text = why(made, signal)
    if made.algorithm == "toeplitz_rls" and signal in _SOLVED and (
            spec.data is not None or made.uniform):
        text += "\n" + describe(system_of(spec, base), made)
    return text


def _advise(spec: Spec, base: Path, error: float, as_json: bool) -> None:
    """Print word lengths with their errors, and the best choice for a required error."""
    if spec.cg is not None:
        _advise_cg(spec, base, error, as_json)
    else:
        _advise_toeplitz(spec, base, error, as_json)


def _advise_cg(spec: Spec, base: Path, error: float, as_json: bool) -> None:
    """Advise on the word length for conjugate gradients.

    The integer model is run at each word length.
    """
    from ..lab.word_lengths import measured_words
    from ..sim.diagnostics.word_length import smallest_sufficient

    found = measured_words(spec, base)
    chosen = smallest_sufficient(found, error)
    rows = [("word", "measured error of alpha", "status", "RAM", "multiplications")]
    rows += [(str(c.word), f"{c.error:.1e}" if math.isfinite(c.error) else "no answer", c.status,
              f"{c.bytes} bytes", str(c.multiplications)) for c in found]
    advice = f"No word length achieves {error:g} on these data: raise [cg] lambda, or lower [cg] steps."
    if chosen is not None:
        advice = f"Smallest RAM that achieves {error:g} on these data: [numbers] word = {chosen.word}"
    emit(Answer({"asked": error, "choices": [vars(c) for c in found],
                 "advice": None if chosen is None else vars(chosen)},
                "\n".join(["Error of the integer model on the data, compared with the same number of steps "
                           "in float64:",
                           "", table(rows), "", advice])), as_json)


def _advise_toeplitz(spec: Spec, base: Path, error: float, as_json: bool) -> None:
    """Advise on the word length for a Toeplitz trainer.

    The errors are predicted from the condition number of the system.
    """
    from ..lab.word_lengths import confirmed_words, predicted_words

    system, found = predicted_words(spec, base)
    chosen = confirmed_words(spec, base, found, error)
    rows = [("word", "refine", "predicted error of alpha", "RAM", "multiplications")]
    rows += [(str(c.word), str(c.refine), f"{c.error:.1e}", f"{c.bytes} bytes", str(c.multiplications))
             for c in found]
    advice = f"No word length achieves {error:g}: raise [toeplitz] lambda, or lower sigma."
    if chosen is not None:
        advice = (f"Smallest RAM that achieves {error:g}: [numbers] word = {chosen.word}, "
                  f"[toeplitz] refine = {chosen.refine}")
        advice += (f"\nError of the integer model on the data: {chosen.error:.1e}, status {chosen.status}"
                   if chosen.status else "\nThe error is predicted: name data in [data] to measure it.")
    emit(Answer({"conditioning": {**vars(system), "bits_lost": system.bits_lost}, "asked": error,
                 "choices": [vars(c) for c in found], "advice": None if chosen is None else vars(chosen)},
                "\n".join([f"condition number about {system.condition:.3g}, |xi| up to {system.xi:.4f}: "
                           f"{system.bits_lost:.1f} bits lost", "", table(rows), "", advice])), as_json)


def _solver(made: Plan) -> list[str]:
    """Return one line that states which solver ``auto`` selected, and why.

    The list is empty if the spec names a solver.
    """
    chosen = made.evidence.get("solver")
    if chosen is None:
        return []
    return [f"solver {made.solver}, chosen automatically: {chosen['why']}."]


def _filter(made: Plan) -> list[str]:
    """Return one paragraph on the linear filter that is equivalent to the design.

    The list is empty if there is no such filter.
    """
    from ..sim.diagnostics.filter import filter_of

    found = filter_of(made)
    if found is None:
        return []
    taps = textwrap.wrap(", ".join(f"{tap:.6g}" for tap in found.taps), 100, initial_indent="  ",
                         subsequent_indent="  ")
    lag = found.lag
    if lag == 0:
        return ["This kernel is so narrow that each fitted value is its own target times "
                f"{found.taps[0]:.6g}, to within {found.error:.1e} of full scale: nothing is smoothed.\n"
                "Choose a larger sigma: kerncast fit SPEC"]
    ends = f"{lag} sample{'s' if lag > 1 else ''} from both ends"
    text = (f"This design is a linear filter. More than {ends}, each fitted value is the same weighted "
            f"sum of {2 * lag + 1} targets, to within {found.error:.1e} of full scale. A "
            "symmetric FIR filter with these taps computes this sum without training (docs/filter.md). Taps "
            f"of lags 0 to {lag}:")
    return ["\n".join([*textwrap.wrap(text, 100), *taps])]


def _stream(made: Plan) -> list[str]:
    """Return a paragraph on the filter of a stream of fitted values.

    It states the taps, their format and the error bound.
    """
    found = made.evidence.get("stream")
    if found is None:
        return []
    taps = made.tables["taps"].values[made.stream_taps // 2:]
    lag, bound = found["lag"], found["bound"]
    parts = {"truncation": "omitted taps", "taps": "rounded taps", "result": "rounded result",
             "y": "rounded y"}
    shown = " + ".join(f"{bound[key]:.3g} ({text})" for key, text in parts.items() if bound[key])
    text = (f"This design is a symmetric FIR filter of {2 * lag + 1} taps. The stream returns the fitted "
            f"value of each sample {lag} samples later. The first and last {lag} samples have none "
            "(docs/filter.md). Far from the edges of a record, it differs from the fitted value of the exact "
            f"solution by at most {sum(bound.values()):.3g} LSB of y: {shown}. Taps of lags 0 to {lag} in "
            f"{found['format']}:")
    lines = textwrap.wrap(text, 100) + textwrap.wrap(", ".join(map(str, taps)), 100, initial_indent="  ",
                                                     subsequent_indent="  ")
    if bound["truncation"] > 1:
        lines += textwrap.wrap(f"With stream_lag = {found['enough']} or more, the taps that are left out "
                               "would change a value by at most one LSB.", 100)
    return ["\n".join(lines)]


def _candidates(made: Plan) -> list[str]:
    """Return lines on the candidates of sigma and lambda, if there are any."""
    from ..sim.candidates import candidate_pairs

    if not made.tunes:
        return []
    bands = made.integers("candidate_band")
    rows = [("sigma", "lambda", "diagonals"), *((sigma, lam, str(band)) for (sigma, lam), band in
                                                zip(candidate_pairs(made), bands, strict=True))]
    return ["Each training compares these pairs, and uses the most probable one. If no pair has a valid "
            "evidence, the\nstatus is no_candidate (-6), and the model is not changed.\n" + table(rows)]


def _text(made: Plan) -> str:
    from ..codegen.c.contract import costs_of_parts

    memory = [("memory", "type", "elements", "bytes", "")]
    memory += [(f.name, f.ctype, f"{f.formula} = {f.count}" if f.formula != str(f.count) else f.formula,
                str(f.bytes), f.meaning) for f in made.memory]
    memory.append(("model", "", "", str(made.state_bytes), "RAM, owned by the caller"))
    if made.trains:
        memory.append(("trainer", "", "", str(made.trainer_bytes), "RAM for training, owned by the caller"))
    memory.append(("tables", "", "", str(made.table_bytes), "flash"))
    counts = [("call", "at most", "")]
    counts += [(call, f"{o.formula} = {o.count}", what.replace("_", " "))
               for call, each in made.operations.items() for what, o in each.items()]
    head = "\n".join([f"{made.name}: {made.algorithm}, {made.word} bits", *_solver(made), *_reduction(made)])
    notes = ["update_without_searches: with metric = \"fklms\" the mean cost of an update over a long "
             "stream, otherwise the cost of a typical update"]
    parts = [("part of a call", "at most"), *costs_of_parts(made).items()]
    return "\n\n".join([head, table(_signals(made)), table(memory), table(counts),
                        *([table(parts)] if parts[1:] else []), *_candidates(made),
                        *(notes if "update_without_searches" in made.operations else []),
                        f"plan {made.hash}"])


def _reduction(made: Plan) -> list[str]:
    """Return a line on how an online learner evicts centers.

    The result is empty if the name of the reduction in the spec is sufficient.
    """
    from ..sim.choices import reduction_title

    chosen = made.options.get("reduction")
    if chosen is None:
        return []
    title = reduction_title(chosen, made.projection, made.metric)
    return [] if title == chosen else [f"reduction by {title}"]


def _signals(made: Plan) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        ("signal", "format", "exponent", "cast", "decided by", "at most", "seen", "headroom", "unit")]
    for name, signal in made.signals.items():
        entry = made.evidence[name]
        cast = signal.rounding.name.lower() + (" wrap" if signal.overflow.name == "WRAP" else "")
        rows.append((name, str(signal.format), _exponent(made, name), cast, entry["decided_by"],
                     _number(entry.get("range", entry.get("bound"))), _number(entry["seen"]),
                     _number(entry["headroom_bits"], ".1f", " bits"), made.unit_of(name)))
    return rows


def _exponent(made: Plan, name: str) -> str:
    """Return the block exponent of a signal at the end of a run, and its range."""
    from ..sim.planner.evidence import exponents, is_block

    if not is_block(made, name):
        return "-"
    limits, seen = exponents(made, name), made.evidence[name].get("exponent")
    text = "free" if limits is None else f"{limits[0]} to {limits[1]}" if limits[0] < limits[1] else "fixed"
    return text if seen is None else f"{seen} ({text})"


def _number(value: Any, form: str = ".4g", unit: str = "") -> str:
    """Format a number: integers with thousands separators, others with few digits."""
    if value is None:
        return "-"
    whole = form == ".4g" and abs(value) < 1e9 and value == int(value)
    return f"{int(value):,}{unit}" if whole else f"{value:{form}}{unit}"
