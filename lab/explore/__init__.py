"""lab.explore: a live report of a spec, with sliders that rerun the integer model."""

from .server import Server
from .session import Session

__all__ = ["Server", "Session"]
