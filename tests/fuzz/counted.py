"""Run a C fuzz target on counted inputs, from where the last run stopped."""

import os
import subprocess
from pathlib import Path

#: The loop that a target is linked with; and inputs of a campaign, and of one run of the program in it.
LOOP = Path(__file__).with_name("fuzz_loop.c")
RUNS, EACH = 10**8, 10**6


def searched(program: Path, corpus: Path, start: int, count: int) -> int:
    """Run the loop; return how many inputs are done."""
    done = subprocess.run(
        [program, corpus, str(start), str(count)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return int(done.stdout.split()[-1])


def search_to_the_end(name: str, program: Path, corpus: Path) -> int:
    """Run the loop on every input that an earlier campaign has not run; return how many are done in all."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "kerncast-fuzz"
    cache.mkdir(parents=True, exist_ok=True)
    state = cache / f"{name}.txt"
    done = int(state.read_text()) if state.is_file() else 0
    while done < RUNS:
        done = searched(program, corpus, done, min(EACH, RUNS - done))
        state.write_text(str(done))
    return done
