"""Print requirements.lock: what pip chooses today for each extra that CI uses.

Only versions are written: no host, no hash of a host's file, no path, so the same lock serves any index.
Wheels only, because the demo must install on a machine without a compiler.
"""

import json
import subprocess
import sys

from requirements import requirements

EXTRAS = ["demo", "papers", "rtl", "sweep", "synth", "test", "dev"]

HEADER = """\
# Exact versions for CI and `make`; made by `make lock`, not by hand. Used as pip constraints (-c), so a
# package is installed only where an extra of pyproject.toml asks for it.
"""


def main() -> None:
    """Let pip resolve without installing, and print the answer as constraints."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
    command += ["--only-binary=:all:", "--report=-", *requirements(EXTRAS)]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    chosen = {item["metadata"]["name"]: item["metadata"]["version"] for item in report["install"]}
    print(HEADER + "\n".join(f"{name}=={chosen[name]}" for name in sorted(chosen, key=str.lower)))


if __name__ == "__main__":
    main()
