"""lab.explore: the report of a spec live on this machine: sliders, and the integer model while one drags."""

from .server import Server
from .session import Session

__all__ = ["Server", "Session"]
