"""The units of a spec: what they change, what they do not, and what refuses them."""

from dataclasses import replace

import pytest

from kerncast.codegen.generate import render_c
from kerncast.lab.report.words import signal_rows
from kerncast.sim.diagnostics.observed import why
from kerncast.sim.errors import KerncastError
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec


def named(input=None, output=None, columns=2, **more):
    return Spec(model={"name": "m", "algorithm": "kernel_lms"}, kernel={"sigma": 3.0},
                input={"word": "s12f0", "columns": columns, "gain": 0.5, **(input or {})},
                output={"word": "s12f0", "gain": 0.25, **(output or {})},
                online={"budget": 4, "eta": 0.1}, **more)


def test_a_unit_changes_no_decision_of_the_plan():
    plain, unit = make_plan(named()), make_plan(named({"unit": "g"}, {"unit": "µV"}))
    assert unit.hash == plain.hash and unit == plain
    assert (plain.y_unit, plain.x_units) == ("units of y", ())
    assert (unit.y_unit, unit.x_units) == ("µV", ("g",))


def test_a_unit_survives_spec_and_plan_files():
    spec = named({"unit": ["mV", "°C"]}, {"unit": "m/s^2"})
    assert Spec.from_text(spec.to_toml()) == spec
    plan = make_plan(spec)
    again = Plan.from_json(plan.to_json())
    assert (again.y_unit, again.x_units) == ("m/s^2", ("mV", "°C"))


def test_header_and_readme_name_the_units():
    files = render_c(make_plan(named({"unit": "g"}, {"unit": "mV"})))
    header, readme = files["m.h"], files["README.md"]
    assert "in mV */" in header and "A prediction in mV, in float." in header
    assert "1 count is 0.5 g */" in header
    assert "units of y" not in header + readme and "y units" not in readme and "x units" not in readme
    assert "| mV |" not in readme and " mV |" in readme


def test_readme_lists_the_units_of_different_columns():
    files = render_c(make_plan(named({"unit": ["mV", "°C"]})))
    assert "Units of the inputs, in order: mV, °C." in files["README.md"]
    assert "1 count is" not in files["m.h"] and "units of y" in files["m.h"]


def test_plan_and_report_name_the_unit_of_each_signal():
    plan = make_plan(named({"unit": "g"}, {"unit": "mV"}))
    units = {row["name"]: row["unit"] for row in signal_rows(plan, None)}
    assert units["x"].endswith(" g") and units["y"].endswith(" mV") and units["f"].endswith(" mV")
    assert "mV." in why(plan, "f")
    assert replace(plan, evidence={}).unit_of("f").endswith(" y units")


@pytest.mark.parametrize("text", ["*/", "a*/b", "a//b", "<b>", "a|b", "a\\", "m\nV", " mV", "mV ", "", "`m`",
                                  "x" * 17, "a\u202eb", "\"", "&lt;", "??/", "{{ p }}", "$x$"])
def test_text_that_could_end_a_comment_or_a_table_is_no_unit(text):
    for table in ("input", "output"):
        with pytest.raises(KerncastError) as caught:
            named(**{table: {"unit": text}})
        (problem,) = caught.value.problems
        assert (problem.code, problem.where) == ("E109", f"[{table}] unit")
        assert "16 letters" in problem.allowed and problem.remedy


@pytest.mark.parametrize("text", ["mV", "µV", "°C", "m/s^2", "%", "Ω", "m·s⁻²", "1/10 ppm", "dB(A)", "kg_m"])
def test_units_in_use_are_accepted(text):
    assert named(output={"unit": text}).output.unit == text


def test_units_that_cannot_be_are_refused():
    cases = [(lambda: named({"unit": ["mV"]}), "E112", "[input] unit"),
             (lambda: named({"unit": 3}), "E107", "[input] unit"),
             (lambda: named({"delay": 2, "unit": ["mV", "mV"]}), "E113", "[input] unit"),
             (lambda: Spec(model={"name": "m", "algorithm": "kernel_lms"}, kernel={"sigma": 3.0},
                           input={"word": "s12f0"}, output={"classes": ["a", "b"], "unit": "mV"},
                           online={"budget": 4, "eta": 0.1}), "E113", "[output] unit")]
    for make, code, place in cases:
        with pytest.raises(KerncastError) as caught:
            make()
        assert (code, place) in [(p.code, p.where) for p in caught.value.problems]
