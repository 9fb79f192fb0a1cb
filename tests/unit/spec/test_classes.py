"""[output] of classes and of several outputs: what is read, and what is refused with which code."""

import json

import pytest

from kerncast.sim.errors import KerncastError
from kerncast.sim.formats import Format
from kerncast.sim.spec import Spec

TABLES = {"model": {"name": "act", "algorithm": "kernel_predictor"}, "input": {"word": "u8f0", "columns": 2},
          "kernel": {"sigma": 2.0}, "predictor": {"file": "act.json"}}
THREE = ["idle", "walk", "run"]


def refused(output, **tables):
    with pytest.raises(KerncastError) as told:
        Spec(**{**TABLES, **tables, "output": output})
    assert all(problem.remedy for problem in told.value.problems)
    return [problem.code for problem in told.value.problems]


def test_classes_need_no_word_and_arrive_as_labels():
    output = Spec(**TABLES, output={"classes": THREE}).output
    assert output.classes == tuple(THREE)
    assert (output.format, output.scores) == (Format(False, 8, 0), Format(True, 2, 0))


def test_integers_are_names_of_classes():
    assert Spec(**TABLES, output={"classes": [0, 1, 2]}).output.classes == ("0", "1", "2")


def test_the_text_of_a_spec_with_classes_gives_an_equal_spec():
    spec = Spec(**TABLES, output={"classes": ["a \"b\"", "ä, c"], "min_margin": 0.25})
    assert Spec.from_text(spec.to_toml()) == spec


@pytest.mark.parametrize("classes", [
    ["idle"], [], ["a", "a"], ["a", 1, "1"], ["a", ""], ["a", " b"], ["a", "b\n"], ["a", "b" * 41],
    [str(i) for i in range(256)]])
def test_a_list_that_names_no_classes_is_refused(classes):
    assert refused({"classes": classes}) == ["E122"]


@pytest.mark.parametrize("classes", ["idle, walk", [0.5, 1.5], [True, False], ["a", None], {"a": 1}])
def test_names_of_another_type_are_refused(classes):
    assert refused({"classes": classes}) == ["E107"]


@pytest.mark.parametrize(("codes", "output"), [
    (["E106"], {}), (["E113"], {"classes": THREE, "outputs": 3}), (["E113"], {"classes": THREE, "gain": 2.0}),
    (["E113"], {"classes": THREE, "offset": 1}), (["E113"], {"word": "s8f0", "min_margin": 0.5}),
    (["E108"], {"word": "s8f0", "outputs": 0}), (["E108"], {"word": "s8f0", "outputs": 256}),
    (["E108"], {"classes": THREE, "min_margin": 0.0})])
def test_keys_that_exclude_each_other_are_refused(codes, output):
    assert refused(output) == codes


def test_bundled_data_have_neither_classes_nor_several_outputs():
    assert refused({"classes": THREE}, data={"builtin": "equaliser"}) == ["E115"]
    assert refused({"word": "s8f0", "outputs": 2}, data={"builtin": "digits"},
                   input={"word": "u5f0", "columns": 64}) == ["E115"]


def test_the_bundled_digits_have_exactly_the_classes_0_to_9():
    digits = {"data": {"builtin": "digits"}, "input": {"word": "u5f0", "columns": 64}}
    assert refused({"classes": THREE}, **digits) == ["E115"]
    assert Spec(**{**TABLES, **digits, "output": {"classes": list(range(10))}}).output.classes == tuple(
        "0123456789")


def test_the_toeplitz_trainer_rejects_classes():
    other = {"model": {"name": "act", "algorithm": "toeplitz_rls"}, "predictor": None,
             "toeplitz": {"n": 8, "lambda": 0.5, "scheme": "diagonal_mean"}}
    with pytest.raises(KerncastError) as told:
        Spec(**{**TABLES, **other, "output": {"classes": THREE}})
    assert [problem.code for problem in told.value.problems] == ["E123"]
    assert "kerncast.export" in told.value.problems[0].remedy


def test_the_schema_asks_for_a_word_or_for_classes():
    from kerncast.sim.spec.schema import spec_schema

    rules = json.dumps(spec_schema()["allOf"])
    assert '"anyOf": [{"required": ["word"]}, {"required": ["classes"]}]' in rules
