"""cli: ``kerncast sim``: run the integer model, and report its error.

The error is measured on held-out samples, and compared with float64.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..sim.errors import EXIT_BAD_INPUT
from ._options import JsonFlag, SpecPath
from ._output import Answer, emit, table
from ._spec import load_spec, warnings_of

#: Name of the label for a margin below [output] min_margin.
_UNKNOWN = "unknown"
#: Labels for which a confusion matrix fits the terminal.
_MOST_COLUMNS = 12

if TYPE_CHECKING:
    from ..lab.workflow import Simulated
    from ..sim._arrays import Raw, Words
    from ..sim.diagnostics.quality import Quality
    from ..sim.diagnostics.simulate import Simulation
    from ..sim.diagnostics.stream import Streamed
    from ..sim.plan import Plan

Table = Annotated[Path | None, typer.Option("-o", "--out", metavar="CSV", show_default=False,
                                            help="Write samples and predictions to a CSV file.")]
Chart = Annotated[Path | None, typer.Option("--plot", metavar="FILE", show_default=False,
                                            help="Draw samples and predictions to a PNG, SVG or PDF file; "
                                                 "needs matplotlib.")]


def sim(path: SpecPath, out: Table = None, plot: Chart = None, as_json: JsonFlag = False) -> None:
    """Run the integer model on the data and measure its error.

    The report starts with the error on samples that were not used in training, compared with baselines, and a
    verdict. The error compared with float64, the sources of the error on the training data, and the range of
    every signal follow. A status other than ok is explained. With -o, the command writes time, x, y, and the
    predictions in float64 and fixed point, in units of x and y, or the names of classes. --plot draws the
    same values, or the confusion matrix of classes; with novelty, also the leverage over time. Exits with 2
    if there is no model, because training was refused, or because the dictionary of an online learner is
    empty at the end.

    Examples
    --------
    kerncast sim ecg.toml
    kerncast sim ecg.toml -o ecg_fitted.csv --plot ecg.png
    kerncast sim ecg.toml --json
    """
    from ..lab.predictions import check_outputs, draw, write_table
    from ..lab.workflow import simulate_spec
    from ..sim.diagnostics.novelty import learn_novelty
    from ..sim.diagnostics.observed import observed

    spec = load_spec(path)
    check_outputs(spec, path, out, plot)
    found = simulate_spec(spec, path.parent)
    plan, result = found.plan, found.simulation
    novelty = learn_novelty(plan, found.data.x_raw, found.data.y_raw)
    if result.trained and out is not None:
        write_table(found, path.parent, out)
    if result.trained and plot is not None:
        draw(found, plot, novelty)
    errors = {"f_error": result.f_error, "alpha_error": result.alpha_error}
    errors = {name: value for name, value in errors.items() if not math.isnan(value)}
    verdict = _verdict(plan, result)
    streamed, stream = _streamed(plan, found.data.y_raw, novelty)
    warnings = warnings_of(spec, observed(plan, result.ranges, result.state), as_json)
    values = {"plan": plan.hash, "status": result.status, "trained": result.trained, **verdict,
              "held_out": None if found.quality is None else found.quality.as_dict(), **errors,
              "warnings": warnings,
              **({} if result.classes is None else {"labels": result.classes.original.tolist(),
                                                    "classes": result.classes.as_dict()}),
              **({} if result.tuned is None else {"tuned": result.tuned.as_dict()}),
              **streamed,
              "unit": plan.y_unit, "budget": None if result.budget is None else result.budget.as_dict(),
              "ranges": [vars(r) for r in result.ranges]}
    after = ("kerncast", "gen", str(path), "-o", f"build/{plan.name}") if result.status == "ok" else ()
    emit(Answer(values, _text(found, verdict, errors, stream), after), as_json)
    if not result.trained:
        raise typer.Exit(EXIT_BAD_INPUT)


def _streamed(plan: Plan, y_raw: Raw | None, novelty: Words | None) -> tuple[dict[str, object], list[str]]:
    """Return the results of a run over the samples as a stream, as values and lines."""
    from ..sim.diagnostics.novelty import summarise_novelty
    from ..sim.diagnostics.stream import compare_stream

    streamed = compare_stream(plan, y_raw)
    lines = [] if streamed is None else _stream_lines(streamed)
    values: dict[str, object] = {} if streamed is None else {"stream": streamed.as_dict()}
    if novelty is None:
        return values, lines
    summary = summarise_novelty(plan, novelty)
    return values | {"novelty": summary.as_dict()}, [*lines, str(summary)]


def _stream_lines(found: Streamed) -> list[str]:
    """Return the comparison of a stream with the fitted values as lines."""
    middle = "" if math.isnan(found.middle) else f", {found.middle:.3g} LSB in the middle"
    return [f"stream: {found.values:,} values, {found.saturated} saturated. Largest difference from the "
            f"fitted values of the whole record in float64: {found.difference:.3g} LSB of y{middle} "
            f"(bound {found.bound:.3g}; 1 LSB is {found.lsb:.3g})"]


def _text(found: Simulated, verdict: dict[str, str], errors: dict[str, float], stream: list[str]) -> str:
    plan, result = found.plan, found.simulation
    ranges = [("signal", "format", "min", "max", "headroom", "saturated")]
    ranges += [(r.name, r.format, str(r.lo), str(r.hi), f"{r.headroom_bits} bits", str(r.saturated))
               for r in result.ranges]
    word = plan.constants.get("solver_word", plan.word)
    return "\n".join([f"{plan.name}: {word} bits, status {result.status}", *_lines(plan, result, verdict),
                      *_tuned(result),
                      *(quality_lines(found.quality, plan.y_unit)
                        if result.trained and found.is_judged else []),
                      *(f"{name} compared with float64: {value:.3e}" for name, value in errors.items()),
                      *stream, *_classes(found), *_budget(found), "", table(ranges)])


def _verdict(plan: Plan, result: Simulation) -> dict[str, str]:
    """Return the meaning, cause and remedy of a status other than ok.

    If float64 has no solution, the result states this, too.
    """
    from ..sim.statuses import meaning

    alone = {} if result.float_solves or not result.trained else {
        "float64": "cannot solve this system, so there is no reference for the error. The matrix plus "
        "lambda I is not positive definite, or is singular within rounding: check the predictions on "
        "held-out samples."}
    if result.status == "ok":
        return alone
    entry = meaning(result.status, plan.algorithm, plan.options)
    found = {"meaning": entry.title, "why": entry.cause, "do": entry.remedy}
    if not result.trained and not plan.trains:
        found |= {"why": "The dictionary is empty after the last sample: `truncation` or "
                         "`max_deterioration` evicted every center.",
                  "do": "Lower `truncation` or `max_deterioration`; start with a hundredth of eta times the "
                        "largest y."}
    elif not result.trained and result.tuned is None:
        word = plan.constants.get("solver_word", plan.word)
        found["why"] = (f"float64 solves this system, but it is too ill-conditioned for a word length of "
                        f"{word} bits."
                        if result.float_solves else
                        "float64 cannot solve this system either: the matrix plus lambda I is not positive "
                        "definite, or is singular within rounding.")
    return found | alone


def _tuned(result: Simulation) -> list[str]:
    """Return a table of the log evidence of each pair of sigma and lambda.

    The selected pair is marked.
    """
    found = result.tuned
    if found is None:
        return []
    rows: list[tuple[str, ...]] = [("sigma", "lambda", "evidence", "in float64", "")]
    for k, (pair, evidence, exact) in enumerate(zip(found.pairs, found.evidence, found.float_evidence,
                                                    strict=True)):
        shown = ("refused" if math.isinf(v) else f"{v + 0.0:.2f}" for v in (evidence, exact))
        rows.append((*pair, *shown, "trained" if k == found.chosen else ""))
    return ["", "Natural logarithm of the evidence of each pair, minus that of the best "
                "pair:", table(rows), ""]


def _lines(plan: Plan, result: Simulation, verdict: dict[str, str]) -> list[str]:
    """Return the verdict as lines: why there is no model, the cause, the remedy."""
    return [*_no_answer(plan, result), *(f"{key.capitalize():7}  {text}" for key, text in verdict.items())]


def _no_answer(plan: Plan, result: Simulation) -> list[str]:
    """Return a line with the reason if there is no model; every prediction is then 0."""
    if result.trained:
        return []
    return ["No result: the device would reject this training." if plan.trains else
            "No result: the dictionary is empty at the end of the data."]


def _classes(found: Simulated) -> list[str]:
    """Return the number of each label, the recall and the confusion matrix as lines.

    The accuracy is included if it has not been printed before.
    """
    classes = found.simulation.classes
    if classes is None:
        return []
    named = classes.named
    counts = ", ".join(f"{named.count(name)} of class {name}" for name in classes.names)
    if _UNKNOWN in named and _UNKNOWN not in classes.names:
        counts += f", {named.count(_UNKNOWN)} unknown"
    lines = [f"labels: {counts}; float64 predicts another label for {classes.differing} of {len(named)}"]
    if classes.truth is None:
        return lines
    if found.quality is None:
        lines += [f"accuracy: {classes.accuracy:.2%} of {len(named)} samples",
                  f"baseline: {classes.majority:.2%} of the samples have the most frequent class"]
    heads = classes.shown
    rows = [("true class", *heads, "recall")]
    rows += [(name, *map(str, counted[:len(heads)]), "-" if math.isnan(part) else f"{part:.1%}")
             for name, counted, part in zip(classes.names, classes.confusion.tolist(), classes.recall,
                                            strict=True)]
    if len(heads) <= _MOST_COLUMNS:
        which = "Samples" if found.plan.fixed else \
            "Training samples" if found.data.y_test_raw is None else "Test samples"
        return [*lines, "", f"{which} by true class (rows) and predicted label (columns):", table(rows)]
    short = [(row[0], row[-1]) for row in rows]
    return [*lines, "", "--json prints the confusion matrix.", table(short)]


def quality_lines(quality: Quality | None, unit: str = "units of y") -> list[str]:
    """Return lines with the held-out error, the baseline errors and the verdict."""
    if quality is None:
        return ["Too few samples to hold any out: an error on held-out samples needs at least 8 samples."]
    rows = [(f"{quality.shown} {quality.judged}", "")]
    rows += [("this model", number(quality, quality.error, unit))]
    rows += [(f"baseline: {name}", number(quality, error, unit)) for name, error in quality.baselines.items()]
    used = f"{quality.samples:,} predictions" + (f"; {quality.sampled}" if quality.sampled else "")
    return ["", table(rows), used, f"Verdict  {quality.verdict}", ""]


def number(quality: Quality, error: float, unit: str) -> str:
    """Format an error with its unit, or an error rate as accuracy in percent."""
    named = "" if unit == "units of y" else f" {unit}"
    return f"{1 - error:.1%}" if quality.is_rate else f"{error:.4g}{named}"


def _budget(found: Simulated) -> list[str]:
    """Return a table of the error budget, or the reason why there is none."""
    budget, samples = found.simulation.budget, len(found.data.y_raw)
    if found.plan.second_order:
        return []
    if budget is None:
        return _without_budget(found.simulation, samples)
    whose = "error compared with the float64 model" if found.plan.fixed else "error on the training data"
    if len(budget.total) < samples and not found.plan.fixed:
        whose = f"error on the first {len(budget.total):,} of {samples:,} training samples"
    rows = [(whose, "RMS", "share")]
    rows += [(name, f"{budget.rms(name):.3e}", f"{round(budget.part(name), 3) + 0.0:.1%}")
             for name in budget.terms]
    return ["", table([*rows, ("total", f"{budget.rms():.3e}", "100.0%")])]


def _without_budget(result: Simulation, samples: int) -> list[str]:
    """Return the reason why there is no error budget.

    The result is empty if the status explains it.
    """
    from ..sim.diagnostics.error_budget import MAX_SAMPLES

    if not result.trained or not result.float_solves:
        return []  # the status explains it
    if samples > MAX_SAMPLES:
        return [f"Error budget: omitted above {MAX_SAMPLES:,} training samples."]
    return ["Error budget: omitted, because float64 cannot invert the whole kernel matrix."]
