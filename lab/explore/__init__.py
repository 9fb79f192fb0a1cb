"""lab.explore: serve a live report of a spec: sliders, and the integer model behind them."""

from .server import Server
from .session import Session

__all__ = ["Server", "Session"]
