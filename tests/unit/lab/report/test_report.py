"""kerncast report: what the page holds, what it refuses, and that nothing of a spec becomes markup."""

import base64
import functools
import hashlib
import json
import re
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import kerncast
from kerncast.cli.main import app
from kerncast.codegen.build import compilers
from kerncast.lab.report import columns, gather_page, render
from kerncast.lab.report.intermediates import intermediate_values
from kerncast.lab.report.page import as_json, samples_of
from kerncast.lab.report.words import _lengths, histograms
from kerncast.lab.sweep import make_settings, run_sweep
from kerncast.lab.sweep.confirm import CONFIRMED, design_text
from kerncast.lab.sweep.front import NO_ALTERNATIVE
from kerncast.sim import _optional
from kerncast.sim.data import load_dataset
from kerncast.sim.diagnostics.simulate import simulate
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

EXAMPLES = Path(kerncast.__file__).parent / "examples"
ECG = (EXAMPLES / "ecg.toml").read_text().replace("n = 256", "n = 64")
EQUALISER = (EXAMPLES / "equaliser.toml").read_text()
GRID = ["numbers.word=16,24", "refine=0,1", "sigma=2..4/2"]
HOSTILE = "</script><script>document.title = 'changed'</script><!--<b>"


def decoded(column):
    """As the page's data.js reads a column."""
    for kind in ("f4", "f8"):
        if kind in column:
            numbers = np.frombuffer(base64.b64decode(column[kind]), dtype="<" + kind)
            return [None if np.isnan(v) else float(v) for v in numbers]
    raw = base64.b64decode(column.get("at", column.get("hex")))
    if "hex" in column:
        size = column["bytes"]
        return [raw[i:i + size].hex() for i in range(0, len(raw), size)]
    return [column["of"][i] for i in np.frombuffer(raw, dtype=f"<u{column['bytes']}")]


@pytest.fixture(scope="module", autouse=True)
def no_zig():
    """No page here holds a program: tests in a browser look at it, and zig takes seconds for each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compilers.importlib.util, "find_spec", functools.partial(
            lambda find, name, *rest: None if name == "ziglang" else find(name, *rest),
            compilers.importlib.util.find_spec))
        yield


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    settings = make_settings(Spec.from_text(ECG), folder, grid=GRID)
    return run_sweep(settings, folder / "ecg.sweep")


@pytest.fixture(scope="module")
def page(run):
    return gather_page(run.folder)


def report(*arguments):
    return CliRunner().invoke(app, ["report", *map(str, arguments)])


def codes(result):
    return re.findall(r"\bE\d{3}\b", result.stderr.splitlines()[0])


# ---- what is there ----
@pytest.mark.parametrize("values", [
    [1, 2.5, None, 2.5], ["a", "", "a"], [True, False, 1], list(range(700)), [f"t{i}" for i in range(300)],
    [i / 8 for i in range(600)], [None] * 3, [2**40 + i for i in range(600)],
], ids=["mixed", "texts", "truth", "whole", "many texts", "fractions", "nothing", "large"])
def test_a_packed_column_gives_its_values_back(values):
    assert decoded(columns.packed(values)) == values


def test_numbers_have_six_digits():
    values = np.random.default_rng(3).lognormal(size=1000)
    np.testing.assert_allclose(decoded(columns.packed(values.tolist())), values, rtol=1e-7)


def test_every_point_is_there_with_its_measures_plan_and_spec(run, page):
    points = page["points"]
    assert points["count"] == len(run.points) == 8
    assert decoded(points["plan"]) == [p.plan or "0" * 64 for p in run.points]
    for key, column in points["inputs"].items():
        assert decoded(column) == [p.inputs[key] for p in run.points]
    for name, column in points["measures"].items():
        np.testing.assert_allclose([v or 0.0 for v in decoded(column)],
                                   [p.measures.get(name, 0.0) for p in run.points], rtol=1e-6)
    texts = ["".join(parts) for parts in zip(*map(decoded, page["texts"]), strict=True)]
    assert texts == [design_text(run, p) if p.plan else "" for p in run.points]
    assert [Spec.from_text(t).numbers.word for t in texts if t] == [
        p.inputs["numbers.word"] for p in run.points if p.plan]


def test_front_and_best_are_those_of_the_sweep(run, page):
    assert {run.points[i].key for i in page["front"]} == {p.key for p in run.front}
    assert run.points[page["best"]].key == run.best.key
    assert {int(i) for i in page["designs"]} >= {page["best"]}


def test_formats_are_those_of_the_plans(run, page):
    point = run.points[page["best"]]
    spec, data = run.settings.evaluator.spec_and_data(point.inputs)
    plan = make_plan(spec, data.x_raw, data.y_raw)
    shown = {name: decoded(column)[page["best"]] for name, column in page["formats"].items()}
    assert {name: text for name, text in shown.items() if text} == {
        name: str(signal.format) for name, signal in plan.signals.items()}


def simulated(text, base="."):
    spec = Spec.from_text(text)
    data = load_dataset(spec, base)
    plan = make_plan(spec, data.x_raw, data.y_raw)
    given = samples_of(spec, plan, data)
    uniform = plan.options.get("scheme") == "uniform"
    return plan, given, simulate(plan, None if uniform else data.x_raw, data.y_raw, given.x_test,
                                 passes=given.passes)


@pytest.mark.parametrize(("text", "hatched"), [
    (ECG, []), (ECG.replace("step = 1", "step = 1\nrefine = 1"), ["innov"]),
    (ECG.replace("step = 1", "step = 1\nbias = true"), ["innov"]),
    (ECG.replace("step = 1", 'step = 1\nsolver = "schur"'), ["xi", "eps", "innov"]),
    (EQUALISER, []), (EQUALISER.replace('"nt"', '"fklms_f32"').replace("quantise", "# quantise"), [])])
def test_every_signal_of_the_plan_has_its_histogram_or_what_is_known_of_it(text, hatched):
    plan, given, run = simulated(text)
    ranges = {r.name: r for r in run.ranges}
    rows = histograms(plan, run, given.x_raw, given.y_raw, given.x_test)
    assert [row["name"] for row in rows] == [*plan.signals]
    for row in rows:
        fmt, seen = plan.signals[row["name"]].format, ranges.get(row["name"])
        assert row["room"] == fmt.bits - fmt.signed and row["saturated"] == (seen.saturated if seen else 0)
        assert row["used"] is None or row["used"] >= (row["room"] - seen.headroom_bits if seen else 0)
        assert row["counts"] is None or not any(row["counts"][row["used"] + 1:])
    assert [row["name"] for row in rows if row["counts"] is None] == hatched


def test_intermediate_values_are_those_of_the_run():
    plan, given, run = simulated(ECG)
    words = intermediate_values(plan, run, given.y_raw, given.x_test)
    ranges = {r.name: (r.lo, r.hi) for r in run.ranges}
    for name in ("y", "xi", "eps", "innov", "accumulator"):
        assert (words[name].min(), words[name].max()) == ranges[name]
    assert words["eps"][-1] == words["eps"].min() and len(words["xi"]) == plan.sizes["n"] - 1
    assert words["kernel"].shape == words["distance"].shape == (64, 64)
    assert np.array_equal(words["distance"], (given.x_test - given.x_raw.T) ** 2)
    assert len(np.unique(words["kernel"][words["distance"] == 9])) == 1  # a function of the distance


def test_the_length_of_a_value_is_exact():
    words = np.array([0, -1, 1, -2, 2, 3, -4, 7, -8, 127, -128])
    longest = [w.bit_length() if w >= 0 else (~w).bit_length() for w in words.tolist()]
    assert _lengths(words, 7).tolist() == np.bincount(longest, minlength=8).tolist()


# ---- one design ----
def test_a_spec_without_data_shows_its_plan(tmp_path):
    spec = tmp_path / "plain.toml"
    spec.write_text(ECG.split("[data]")[0])
    result = report(spec, "-o", tmp_path / "plain.html", "--json")
    assert result.exit_code == 0, result.output
    design = gather_page(spec)["designs"]["0"]
    assert design["plan"] == make_plan(Spec.load(spec)).hash
    assert design["histograms"] is None


def test_a_generated_folder_and_its_results_are_shown(tmp_path):
    spec = tmp_path / "ecg.toml"
    spec.write_text(ECG)
    out = tmp_path / "build"
    assert CliRunner().invoke(app, ["gen", str(spec), "-o", str(out)]).exit_code == 0
    tested = {"plan": "ab" * 32, "backends": [{"backend": "host:gcc", "words": 5, "mismatches": 0,
                                               "costs": {"flash": 2048, "counts": {"train": 7}}}]}
    (tmp_path / "results.json").write_text(json.dumps(tested))
    shown = gather_page(out, [tmp_path / "results.json"])
    assert shown["designs"]["0"]["histograms"]
    assert shown["designs"]["0"]["plan"] == gather_page(spec)["designs"]["0"]["plan"]
    assert shown["agreement"] == [{"plan": "ab" * 32, "backend": "host:gcc", "words": 5, "mismatches": 0,
                                   "first": "", "costs": [["flash", "2,048"], ["counts train", "7"]]}]


def test_what_confirm_left_in_the_run_is_shown(run, tmp_path):
    (tmp_path / CONFIRMED).write_text(json.dumps({"plan": "cd" * 32, "backends": [
        {"backend": "host", "words": 9, "mismatches": 1, "first": "f[0]", "costs": {}}]}))
    (tmp_path / "sweep.db").write_bytes((run.folder / "sweep.db").read_bytes())
    assert [(r["backend"], r["mismatches"]) for r in gather_page(tmp_path)["agreement"]] == [("host", 1)]


# ---- the file ----
def test_the_same_run_gives_the_same_bytes_and_no_place_of_this_machine(run, page, tmp_path):
    for name in ("a.html", "b.html"):
        assert report(run.folder, "-o", tmp_path / name).exit_code == 0
    first = (tmp_path / "a.html").read_bytes()
    assert first == (tmp_path / "b.html").read_bytes()
    assert str(run.folder.parent) not in first.decode()
    assert str(Path(kerncast.__file__).resolve().parent) not in first.decode()


def test_scripts_of_the_page_are_those_that_its_policy_names(page):
    text = render.render_page(page)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    # plotly.js stands there as text, which the page's own script reads.
    scripts = re.findall(r'<script(?: type="text/plain" id="plotly")?>(.*?)</script>', text, re.DOTALL)
    hashes = ["sha256-" + base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    assert len(scripts) == 2
    assert re.findall(r"'(sha256-[^']*)'", policy) == hashes
    assert "default-src 'none'" in policy and "connect-src" not in policy


def test_without_a_cheaper_value_page_and_command_say_the_same(page):
    text = render.render_page({**page, "why": []})
    cell = f'<td colspan="5">{NO_ALTERNATIVE}</td>'
    assert cell in text and cell not in render.render_page(page)


def test_text_of_a_spec_never_becomes_markup(page):
    clean, hostile = render.render_page(page), render.render_page({
        **page, "name": HOSTILE, "summary": HOSTILE, "data": HOSTILE, "spec": HOSTILE, "again": [HOSTILE],
        "why": [[HOSTILE] * 5], "refused": {HOSTILE: 1}, "agreement": [
            {"plan": HOSTILE, "backend": HOSTILE, "words": 1, "mismatches": 0, "first": HOSTILE,
             "costs": [[HOSTILE, HOSTILE]]}]})
    assert hostile.count("<script") == clean.count("<script")
    assert HOSTILE not in hostile
    assert "&lt;/script&gt;" in hostile
    assert not set("<>&") & set(as_json({"name": HOSTILE}))
    assert json.loads(as_json({"name": HOSTILE})) == {"name": HOSTILE}


def test_five_thousand_points_need_less_than_six_megabytes(page):
    source, count = np.random.default_rng(1), 5000
    hashes = [hashlib.sha256(bytes([i % 256, i // 256])).hexdigest() for i in range(count)]
    texts = [f"[kernel]\nsigma = {i % 500}\n" for i in range(count)]
    full = next(iter(page["designs"].values()))
    wide = page["points"] | {
        "count": count, "plan": columns.packed_hashes(hashes),
        **{name: columns.packed([""] * count) for name in ("status", "kept", "code", "message")},
        "inputs": {key: columns.packed(source.integers(0, 300, count).tolist()) for key in page["axes"]},
        "measures": {name: columns.packed(source.lognormal(size=count).tolist())
                     for name in page["measures"]}}
    formats = {name: columns.packed([f"s{b}f4" for b in source.integers(8, 33, count)])
               for name in page["formats"]}
    whole = render.render_page({**page, "points": wide, "formats": formats,
                                "texts": [columns.packed(texts)] * 2, "front": list(range(40)),
                                "designs": {str(i): full for i in range(17)}})
    assert len(whole.encode()) < 6_000_000


# ---- what is refused ----
@pytest.mark.parametrize("make", [
    lambda at: at / "nothing", lambda at: at], ids=["nothing there", "an empty folder"])
def test_an_invalid_run_is_refused(tmp_path, make):
    result = report(make(tmp_path), "-o", tmp_path / "x.html")
    assert (result.exit_code, codes(result)) == (2, ["E371"])
    assert not (tmp_path / "x.html").exists()


def test_a_run_without_points_and_a_damaged_one_are_refused(run, tmp_path):
    whole = (run.folder / "sweep.db").read_bytes()
    empty, damaged = tmp_path / "empty", tmp_path / "damaged"
    for folder, content in ((empty, whole), (damaged, b"not SQLite, but of some length" * 99)):
        folder.mkdir()
        (folder / "sweep.db").write_bytes(content)
    with sqlite3.connect(empty / "sweep.db") as db:
        db.execute("DELETE FROM points")
    db.close()
    for folder, code in ((empty, "E373"), (damaged, "E366")):
        result = report(folder)
        assert (result.exit_code, codes(result)) == (2, [code])
        assert not (folder / "report.html").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"plan": 1}', '{"backends": [], "x": 1}'])
def test_invalid_results_are_refused(run, tmp_path, text):
    (tmp_path / "results.json").write_text(text)
    result = report(EXAMPLES / "ecg.toml", "-o", tmp_path / "x.html", "--results", tmp_path / "results.json")
    assert (result.exit_code, codes(result)) == (2, ["E372"])
    assert not (tmp_path / "x.html").exists()


def test_results_that_are_not_there_are_refused(tmp_path):
    result = report(EXAMPLES / "ecg.toml", "-o", tmp_path / "x.html", "--results", tmp_path / "none.json")
    assert (result.exit_code, codes(result)) == (2, ["E372"])


def test_results_are_read_before_the_work(tmp_path):
    result = report(tmp_path / "no.toml", "-o", tmp_path / "x.html", "--results", tmp_path / "none.json")
    assert (result.exit_code, codes(result)) == (2, ["E372"])


def test_without_plotly_nothing_is_computed_or_written(run, tmp_path, monkeypatch):
    monkeypatch.setattr(render, "find_spec", lambda name: None)
    result = report(run.folder, "-o", tmp_path / "x.html")
    assert (result.exit_code, codes(result)) == (3, ["E501"])
    assert "pip install plotly" in result.stderr
    assert not (tmp_path / "x.html").exists()
    assert _optional.package_file("plotly", "package_data/plotly.min.js") is not None


def test_a_folder_is_refused_as_name_of_the_report(run, tmp_path):
    result = report(run.folder, "-o", tmp_path)
    assert (result.exit_code, codes(result)) == (2, ["E254"])
