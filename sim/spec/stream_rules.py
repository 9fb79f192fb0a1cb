"""sim.spec: rules on the stream of fitted values."""

from __future__ import annotations

from ..choices import MATERN
from .draft import Draft, Found


def stream(draft: Draft) -> Found:
    """Require a grid and one fixed linear filter for stream_lag (E113)."""
    lag = draft.get("toeplitz", "stream_lag") if draft.has("toeplitz") else None
    if lag is None:
        return
    kind, n = draft.get("kernel", "type"), draft.get("toeplitz", "n")
    for wrong, why, allowed in (
            (draft.get("toeplitz", "scheme") not in (None, "uniform"), "a stream needs scheme = \"uniform\"",
             "scheme = \"uniform\" with stream_lag"),
            (draft.get("toeplitz", "bias"), "a stream has no intercept, which depends on all samples",
             "bias = false with stream_lag"),
            (draft.get("toeplitz", "candidates"), "a stream has one fixed sigma and lambda",
             "no candidates with stream_lag"),
            (kind not in (None, "gaussian", "laplacian", *MATERN), f"the {kind} kernel does not decay",
             "a gaussian, laplacian or Matern kernel with stream_lag"),
            (n is not None and 2 * lag + 1 > n, f"the filter of {2 * lag + 1} taps is longer than n",
             f"stream_lag up to {((n or 3) - 1) // 2}"),
            (draft.has("hls") and draft.get("hls", "interface") == "memory",
             "a record of any length cannot be an array in memory",
             'interface = "stream" or "free_running" with stream_lag')):
        if wrong:
            yield draft.problem("E113", why, "toeplitz", "stream_lag", allowed=allowed,
                                remedy="remove stream_lag, or change the other key")
