"""Files of several signals on one grid."""

import numpy as np
import pytest

from kerncast.lab.fitting import fit_spec
from kerncast.sim.data import load_dataset
from kerncast.sim.errors import KerncastError
from kerncast.sim.spec import Spec

ROWS = [[i, -i, i % 5] for i in range(40)]


def load(tmp_path, text, outputs=3):
    (tmp_path / "leads.csv").write_text(text, encoding="utf-8")
    return load_dataset(spec_of(outputs), tmp_path)


def spec_of(outputs=3):
    return Spec(model={"name": "leads", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
                output={"word": "s12f0", "outputs": outputs}, kernel={"sigma": 2.0},
                toeplitz={"n": 40, "lambda": 0.1, "scheme": "uniform", "solver": "banded"},
                data={"file": "leads.csv"})


def text_of(rows, header="y0,y1,y2"):
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


def test_each_column_is_a_signal(tmp_path):
    found = load(tmp_path, text_of(ROWS))
    assert np.array_equal(found.y_raw, ROWS) and np.array_equal(found.x_raw[:, 0], np.arange(40))


def test_an_empty_line_is_a_missing_sample_and_is_not_skipped(tmp_path):
    text = text_of(ROWS).splitlines()
    with pytest.raises(KerncastError) as found:
        load(tmp_path, "\n".join([*text[:9], "", *text[9:]]) + "\n")
    assert [problem.code for problem in found.value.problems] == ["E251"]
    assert found.value.problems[0].where.endswith(":10")


@pytest.mark.parametrize("outputs", [2, 4, 7])
def test_another_number_of_columns_names_the_key_outputs(tmp_path, outputs):
    with pytest.raises(KerncastError) as found:
        load(tmp_path, text_of(ROWS), outputs)
    problem = found.value.problems[0]
    assert problem.code == "E242" and problem.remedy.endswith("correct `outputs` in [output]")
    assert problem.allowed.endswith(f"y{outputs - 1}")


def test_a_search_for_better_values_is_refused(tmp_path):
    (tmp_path / "leads.csv").write_text(text_of(ROWS), encoding="utf-8")
    with pytest.raises(KerncastError) as found:
        fit_spec(spec_of(), tmp_path, None, lambda done, of: None)
    assert [(p.code, p.value) for p in found.value.problems] == [("E124", "3")]
