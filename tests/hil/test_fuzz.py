"""The agent's parser and commands under any bytes, with the address and undefined-behaviour sanitizers.

What must hold whatever comes stands in fixtures/fuzz_agent.c.  The corpus, fixtures/fuzz_corpus.bin, is
what libFuzzer kept: inputs one after another, each with its length in two bytes before it.
"""

import random
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from fuzz.counted import LOOP, RUNS, search_to_the_end, searched

CORPUS = Path(__file__).parent / "fixtures" / "fuzz_corpus.bin"
LENGTH_BYTES = 2
Fuzzer = Callable[..., Path]


def corpus() -> Iterator[bytes]:
    """The inputs of the corpus."""
    data = CORPUS.read_bytes()
    while data:
        end = LENGTH_BYTES + int.from_bytes(data[:LENGTH_BYTES], "little")
        yield data[LENGTH_BYTES:end]
        data = data[end:]


def mutated(seeds: Sequence[bytes], chance: random.Random) -> bytes:
    """One input made of two: cut, joined, and a few bytes changed."""
    one, other = chance.choice(seeds), chance.choice(seeds)
    data = bytearray(one[:chance.randrange(len(one) + 1)] + other[chance.randrange(len(other) + 1):])
    for _ in range(chance.randrange(4) if data else 0):
        data[chance.randrange(len(data))] = chance.choice([0, 1, 0xFF, chance.randrange(256)])
    return bytes(data)


def test_the_corpus_and_its_offspring_find_nothing(
        fuzzer: Fuzzer, require_tool: Callable[[str, str], str]) -> None:
    require_tool("gcc", "apt-get install gcc")
    program = fuzzer("gcc", "-O1", "-fsanitize=address,undefined", "-DFROM_STDIN")
    seeds, chance = list(corpus()), random.Random(6)
    inputs = seeds + [mutated(seeds, chance) for _ in range(10_000)]
    stream = b"".join(len(data).to_bytes(LENGTH_BYTES, "little") + data for data in inputs)
    done = subprocess.run([program], input=stream, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    assert len(seeds) > 100 and len(CORPUS.read_bytes()) < 50_000


@pytest.mark.campaign
@pytest.mark.parametrize(("longest", "runs"), [(96, 10_000_000), (2048, 200_000)])
def test_ten_million_inputs_that_follow_the_coverage_find_nothing(
        longest: int, runs: int, tmp_path: Path, fuzzer: Fuzzer,
        require_tool: Callable[[str, str], str]) -> None:
    require_tool("clang", "apt-get install clang libclang-rt-14-dev")
    program = fuzzer("clang", "-O2", "-fsanitize=fuzzer,address,undefined")
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number, data in enumerate(corpus()):
        (folder / str(number)).write_bytes(data)
    done = subprocess.run([program, f"-runs={runs}", f"-max_len={longest}", folder], cwd=tmp_path,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-5000:]
    assert f"Done {runs} runs" in done.stderr


def test_counted_frames_find_nothing(fuzzer: Fuzzer, require_tool: Callable[[str, str], str]) -> None:
    require_tool("gcc", "apt-get install gcc")
    program = fuzzer("gcc", "-O2", "-fsanitize=address,undefined", str(LOOP))
    assert searched(program, CORPUS, 0, 20_000) == 20_000


@pytest.mark.campaign
def test_a_hundred_million_frames_find_nothing(
        fuzzer: Fuzzer, require_tool: Callable[[str, str], str]) -> None:
    require_tool("gcc", "apt-get install gcc")
    program = fuzzer("gcc", "-O2", "-fsanitize=address,undefined", str(LOOP))
    assert search_to_the_end("frames", program, CORPUS) == RUNS
