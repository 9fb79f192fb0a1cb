"""`kerncast test --bisect`: what it prints, its exit codes, and how it ends when it is interrupted."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import kerncast.lab.compare.bisection as bisection

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def faulty(generated: Path) -> Path:
    """A folder whose Levinson recursion sums one term too few."""
    path = generated / "small_levinson.c"
    text = path.read_text()
    sound = "small_min_i32(t->step - 1, "
    short = "small_min_i32(t->step < 2 ? 0 : t->step - 2, "
    assert text.count(sound) == 1
    path.write_text(text.replace(sound, short))
    return generated


def test_no_difference_is_reported_with_exit_code_0(run: Run, generated: Path) -> None:
    code, out, err = run("test", generated, "--on", "host", "--on", "model", "--bisect")
    assert code == 0
    assert out.count("nowhere") == 2
    assert "call 0 train" in err  # what is being done
    code, out, _ = run("test", generated, "--on", "host", "--bisect", "--json")
    found = json.loads(out)
    assert (code, found["mismatches"], found["backends"][0]["divergence"]) == (0, 0, None)
    plain = json.loads(run("test", generated, "--on", "host", "--json")[1])
    assert found["words"] > plain["words"] + 500


def test_the_first_mismatch_is_named_with_exit_code_1(run: Run, faulty: Path) -> None:
    code, out, err = run("test", faulty, "--on", "host", "--bisect")
    assert code == 1
    rows = dict(line.split(maxsplit=1) for line in out.split("\n\n", 1)[1].splitlines()[1:])
    assert rows["operation"] == "reflection_numerator"
    assert rows["signal"] == "num[0]"
    assert rows["step"] == "2"  # the first sum of more than nothing
    name, _, line = rows["hook"].partition(":")
    assert "KC_TRACE(reflection_numerator, num, " in (faulty / name).read_text().splitlines()[int(line) - 1]
    assert "reflection_numerator: num[0] at step 2 is " in rows["model"]
    assert rows["back"].startswith("end  ")
    assert rows["model"] != rows["back"].removeprefix("end  ").strip()
    assert "try 1 of about" in err


def test_json_has_both_values_and_the_place(run: Run, faulty: Path) -> None:
    code, out, err = run("test", faulty, "--on", "host", "--bisect", "--json")
    found = json.loads(out)
    row = found["backends"][0]
    place = row["divergence"]
    assert (code, err) == (1, "")
    assert found["mismatches"] == row["mismatches"] > 0
    assert (place["call"], place["name"], place["sample"]) == (0, "train", None)
    assert (place["operation"], place["step"], place["signal"], place["index"]) == ("reflection_numerator",
                                                                                    2, "num", 0)
    assert place["model"]["word"] != place["device"]["word"]
    assert place["hook"].startswith("small_levinson.c:")
    assert place["equal"] > 0


def test_without_the_flag_the_output_is_what_it_was(run: Run, faulty: Path) -> None:
    row = json.loads(run("test", faulty, "--on", "host", "--json")[1])["backends"][0]
    assert set(row) == {"backend", "words", "values", "mismatches", "first", "costs"}


@pytest.mark.parametrize("backend", ["rtl:icarus", "model:fxpmath"])
def test_a_back_end_without_hooks_is_exit_code_2_with_a_remedy(
        run: Run, generated: Path, backend: str) -> None:
    code, _, err = run("test", generated, "--on", backend, "--bisect")
    assert code == 2
    assert "E433" in err
    assert "omit --bisect" in err
    assert not (generated / "build").exists()
    assert run("explain", "E433")[0] == run("explain", "E434")[0] == 0


def test_a_back_end_without_hooks_after_others_leaves_their_rows(run: Run, generated: Path) -> None:
    code, out, _ = run("test", generated, "--on", "host", "--on", "rtl:icarus", "--bisect", "--json")
    found = json.loads(out)
    assert code == 2
    assert [error["code"] for error in found["errors"]] == ["E433"]
    assert len(found["backends"]) == 1


def test_an_interrupted_search_closes_the_back_end(
        run: Run, generated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []
    opened = bisection.open_backend

    def watched(*arguments, **options):
        backend = opened(*arguments, **options)
        close = backend.close
        backend.close = lambda: (closed.append(1), close())
        return backend

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(bisection, "open_backend", watched)
    monkeypatch.setattr(bisection, "find_divergence", interrupted)
    code, _, err = run("test", generated, "--on", "host", "--bisect")
    assert code == 130
    assert err.endswith("interrupted\n")
    assert closed == [1]


def test_build_with_trace_makes_a_second_image(run: Run, generated: Path) -> None:
    plain, traced = (json.loads(run("build", generated, "--json", *flags)[1]) for flags in ((), ("--trace",)))
    assert plain["elf"] != traced["elf"]
    assert plain["library"] < traced["library"]
