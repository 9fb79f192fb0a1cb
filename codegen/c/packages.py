"""codegen: add files for build systems and for C++ to a generated folder.

A package adds files to the generated folder and leaves the C files in place, so that you can copy the folder
into a project. Each package for a build system contains two programs: one replays the test vectors without
Python, and the other samples in an interrupt and learns in the background.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ...sim.errors import fail
from ...sim.plan import Plan
from ...sim.replay.vectors import Vectors
from ...sim.spec.target import Target
from ..firmware.application import agent_files
from ..resources import environment
from .context import context
from .realtime import realtime_context
from .vectors_c import vectors_context

_REALTIME = {"examples/realtime/{p}_realtime.h": "realtime.h",
             "examples/realtime/{p}_realtime.c": "realtime.c"}
_SIGNAL = {"examples/realtime/{p}_realtime_signal.h": "realtime_signal.h", **_REALTIME}
_PROGRAM = {"examples/main.c": "main.c", "examples/realtime.c": "realtime_text.c",
            **_REALTIME}
_SKETCH = {"examples/vectors/vectors.ino": "vectors.ino", "examples/realtime/realtime.ino": "realtime.ino",
           "examples/hil_agent/hil_agent.ino": "hil_agent.ino", **_REALTIME}
#: By package: its files, each with its template in ``templates/package``; {p} is the model's name.
PACKAGES: dict[str, dict[str, str]] = {
    "cmake": {"CMakeLists.txt": "CMakeLists.txt", "cmake/{p}Config.cmake": "Config.cmake", **_PROGRAM},
    "make": {"Makefile": "Makefile", **_PROGRAM},
    "zephyr": {"zephyr/module.yml": "zephyr/module.yml", "zephyr/CMakeLists.txt": "zephyr/CMakeLists.txt",
               "zephyr/Kconfig": "zephyr/Kconfig",
               **{f"zephyr/samples/vectors/{name}": f"zephyr/sample/{name}"
                  for name in ("CMakeLists.txt", "prj.conf", "sample.yaml")},
               **{f"zephyr/samples/realtime/{name}": f"zephyr/realtime/{name}"
                  for name in ("CMakeLists.txt", "sample.yaml", "main.c")},
               **{f"zephyr/samples/hil_agent/{name}": f"zephyr/hil_agent/{name}"
                  for name in ("CMakeLists.txt", "prj.conf", "sample.yaml", "main.c")},
               "zephyr/samples/realtime/prj.conf": "zephyr/sample/prj.conf", **_SIGNAL, **_PROGRAM},
    "platformio": {"library.json": "library.json", **_SKETCH, **_PROGRAM},
    "arduino": {"library.properties": "library.properties", **_SKETCH},
    "esp-idf": {"idf_component.yml": "esp_idf/idf_component.yml", "CMakeLists.txt": "CMakeLists.txt",
                "examples/esp_idf/CMakeLists.txt": "esp_idf/CMakeLists.txt",
                "examples/esp_idf/main/CMakeLists.txt": "esp_idf/main_CMakeLists.txt",
                "examples/esp_idf/main/main.c": "esp_idf/main.c", **_SIGNAL},
    "cmsis": {"kerncast.{p}.pdsc": "cmsis/pack.pdsc", "examples/cortex_m/main.c": "cmsis/main.c", **_SIGNAL},
    "cpp": {"{p}.hpp": "model.hpp"},
}
#: Packages without a program.
_HEADERS = {"cpp"}
#: Packages with the HIL agent as a program.
_AGENTS = {"zephyr", "platformio", "arduino"}
_VECTORS = {"examples/vectors/{p}_vectors.h": "vectors.h", "examples/vectors/{p}_vectors.c": "vectors.c"}
ALL = "all"


def resolve_packages(names: Sequence[str]) -> tuple[str, ...]:
    """Return packages by name, in the order of :data:`PACKAGES`.

    Raises E310 if a name is unknown.

    Parameters
    ----------
    names : sequence of str
        Each entry is one name, or several separated by commas; ``all`` selects every package.
    """
    asked = [name.strip() for text in names for name in text.split(",")]
    unknown = [name for name in asked if name not in (ALL, *PACKAGES)]
    if unknown:
        raise fail("E310", "no such package", where="--package", value=", ".join(map(repr, unknown)),
                   allowed=", ".join((*PACKAGES, ALL)), remedy="choose from these, separated by commas")
    return tuple(name for name in PACKAGES if name in asked or ALL in asked)


def packages_in(name: str, files: Iterable[str]) -> tuple[str, ...]:
    """List the packages that a generated folder of the model `name` contains."""
    held = set(files)
    return tuple(kind for kind, parts in PACKAGES.items() if held.issuperset(p.format(p=name) for p in parts))


def render_packages(plan: Plan, kinds: Sequence[str], vectors: Vectors | None, sources: Sequence[str],
                    target: Target | None = None) -> dict[str, str]:
    """Render the files of packages and their section of README.md.

    Parameters
    ----------
    plan : Plan
    kinds : sequence of str
        Names from :data:`PACKAGES`.
    vectors : Vectors or None
        Calls that the test program of a package replays. Raises E308 if a package needs them and there are
        none.
    sources : sequence of str
        The C files of the library.
    target : Target, optional
        Its flash size limits the number of vectors, and its RAM limits the buffers of the HIL agent.
    """
    programs = [kind for kind in kinds if kind not in _HEADERS]
    if vectors is None and programs:
        raise fail("E308", "a package needs test vectors, but the folder has none", where="--package",
                   value=", ".join(programs), allowed="a spec with [data]",
                   remedy="add [data] to the spec, or omit --package")
    values = context(plan, str(plan.evidence.get("spec", "of no file"))) | realtime_context(plan)
    agent = agent_files(plan, target) if _AGENTS.intersection(kinds) else {}
    values |= (vectors_context(plan, vectors, target) if vectors is not None and programs else {}) | {
        "kinds": tuple(kinds), "programs": programs, "sources": sources,
        "agent_sources": [name for name in agent if name.endswith(".c")],
        "number": re.sub(r"[^\d.].*", "", values["version"]).rstrip(".")}  # as CMake and Arduino read one
    names = {"README.md": "README.md", **(_VECTORS if programs else {})} | {
        name: template for kind in kinds for name, template in PACKAGES[kind].items()}
    env, rendered = environment(), {name.format(p=plan.name): template for name, template in names.items()}
    return {f"examples/hil_agent/{name}": text for name, text in agent.items()} | {
        name: env.get_template(f"package/{template}.j2").render(values, file=name.rpartition("/")[2])
        for name, template in rendered.items()}
