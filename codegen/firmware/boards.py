"""codegen: render the documentation page of targets and boards."""

from __future__ import annotations

from ..build.toolchains import compilers
from ..resources import environment, read_text
from .target_files import drivers
from .targets import board_ids, load_board, load_target, target_ids


def render_boards() -> str:
    """Render ``docs/boards.md``."""
    return environment().get_template("firmware/boards.md.j2").render(
        targets=[load_target(name) for name in target_ids()],
        boards=[load_board(name) for name in board_ids()], compilers=compilers,
        uarts=drivers("uart"), counters=drivers("counter"),
        example=read_text("firmware/boards/nucleo-f446re.toml"))


if __name__ == "__main__":
    print(render_boards(), end="")
