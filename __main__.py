"""``python -m kerncast`` is the ``kerncast`` command."""

from .cli.main import app

if __name__ == "__main__":
    app(prog_name="kerncast")
