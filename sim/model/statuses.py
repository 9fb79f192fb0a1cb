"""sim.model: the codes of :class:`..statuses.Status` as plain integers, for compiled code."""

from ..statuses import TRAINED as _TRAINED
from ..statuses import Status

OK = int(Status.OK)
NOT_POSITIVE_DEFINITE = int(Status.NOT_POSITIVE_DEFINITE)
SATURATED = int(Status.SATURATED)
NOT_TRAINED = int(Status.NOT_TRAINED)
BAD_ARGUMENT = int(Status.BAD_ARGUMENT)
INACCURATE = int(Status.INACCURATE)
BREAKDOWN = int(Status.BREAKDOWN)
STALLED = int(Status.STALLED)
FULL = int(Status.FULL)

#: Statuses that leave a model that can predict.
TRAINED = tuple(int(status) for status in _TRAINED)
