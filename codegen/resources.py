"""codegen: files that ship inside the package (templates, firmware, data), and the Jinja environment."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from jinja2 import BaseLoader, Environment, StrictUndefined, TemplateNotFound

_ROOT = __package__.rpartition(".")[0]


def resource(path: str) -> Traversable:
    """The file or folder `path` (with slashes) of the installed package."""
    return files(_ROOT).joinpath(*path.split("/"))


def read_text(path: str) -> str:
    """Text of a shipped file."""
    return resource(path).read_text(encoding="utf-8")


class _PackageLoader(BaseLoader):
    """Templates from ``templates/`` of the package, wherever it is installed."""

    def get_source(self, environment: Environment, template: str
                   ) -> tuple[str, str | None, None]:
        """Text of a template, for Jinja."""
        try:
            return read_text(f"templates/{template}"), f"templates/{template}", None
        except (FileNotFoundError, IsADirectoryError):
            raise TemplateNotFound(template) from None


@cache
def environment() -> Environment:
    """The one way templates are rendered: an undefined name is an error, blocks leave no blank lines."""
    return Environment(loader=_PackageLoader(), undefined=StrictUndefined, trim_blocks=True,
                       lstrip_blocks=True, keep_trailing_newline=True, autoescape=False)
