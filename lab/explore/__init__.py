"""lab.explore: interactive report of a spec, with controls that rerun the model."""

from .server import Server
from .session import Session

__all__ = ["Server", "Session"]
