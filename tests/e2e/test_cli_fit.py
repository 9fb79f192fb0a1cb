"""``kerncast fit``: float64 on the spec's data, and the verdict of section 4.3."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
Run = Callable[..., tuple[int, str, str]]


def test_fit_prints_the_error_the_selected_model_and_lines_for_the_spec(run: Run, spec: Path) -> None:
    code, out, _ = run("fit", spec)
    assert code == 0
    for words in ("with the spec as written, in float64:", "exact, the whole matrix", "Lemma 1",
                  'In the spec: algorithm = "toeplitz_rls", [kernel] sigma = '):
        assert words in out


def test_fit_in_json_is_one_object_with_the_verdict(run: Run) -> None:
    code, out, err = run("fit", EXAMPLES / "digits.toml", "--samples", "60", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["tested"] and found["measure"] == "error rate" and found["error"] < 0.05
    assert [c["method"] for c in found["verdict"]["choices"]] == ["exact", "toeplitz", "cg"]


def test_fit_of_a_dot_product_kernel_explains_why_toeplitz_does_not_apply(run: Run, spec: Path) -> None:
    spec.write_text(spec.read_text().replace("toeplitz_rls", "kernel_cg").replace('scheme = "uniform"', "")
                    .replace("[toeplitz]", "[cg]").replace("sigma = 2.0", 'type = "linear"')
                    .replace('word = "u8f0"', 'word = "s8f0"'))
    spec.with_name("small.csv").write_text("x0,y\n" + "".join(f"{i},{3 * i - 9}\n" for i in range(12)))
    code, out, _ = run("fit", spec)
    assert code == 0 and "not a function of u - v" in out


@pytest.mark.parametrize(("given", "code"), [(("--samples", "2"), "E238"), ((), "E240")])
def test_bad_input_is_refused_by_code(run: Run, spec: Path, given: tuple[str, ...], code: str) -> None:
    if not given:
        spec.write_text(spec.read_text().split("[data]")[0])
    status, _, err = run("fit", spec, *given)
    assert status == 2 and code in err
