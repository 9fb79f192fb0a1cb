"""Run the command line: ``python -m kerncast``, or the program ``kerncast``."""

import os
import sys


def _interrupted(*_: object) -> None:
    """End the process at once; there is nothing to clean up during the imports."""
    os.write(2, b"interrupted\n")
    os._exit(130)


try:
    import signal  # takes longer than the rest until main
except KeyboardInterrupt:
    _interrupted()


def main() -> None:
    """Run the command line."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:  # not if the shell has Ctrl-C ignored
        signal.signal(signal.SIGINT, _interrupted)
    os.environ["PYTHONSAFEPATH"] = "1"  # workers, Zig: they import no module of the working folder either
    from .cli.main import app

    signal.signal(signal.SIGINT, usual)
    try:
        app(prog_name="kerncast")
    except KeyboardInterrupt:  # after the command's own handler, or before it
        sys.stderr.write("interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
