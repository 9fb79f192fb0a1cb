"""sim.model: the status codes as plain integers, for compiled code.

The values are those of :class:`..statuses.DeviceStatus`.
"""

from ..statuses import TRAINED as _TRAINED
from ..statuses import DeviceStatus

OK = int(DeviceStatus.OK)
NOT_POSITIVE_DEFINITE = int(DeviceStatus.NOT_POSITIVE_DEFINITE)
SATURATED = int(DeviceStatus.SATURATED)
NOT_TRAINED = int(DeviceStatus.NOT_TRAINED)
BAD_ARGUMENT = int(DeviceStatus.BAD_ARGUMENT)
INACCURATE = int(DeviceStatus.INACCURATE)
BREAKDOWN = int(DeviceStatus.BREAKDOWN)
STALLED = int(DeviceStatus.STALLED)
FULL = int(DeviceStatus.FULL)
PENDING = int(DeviceStatus.PENDING)
OUT_OF_ORDER = int(DeviceStatus.OUT_OF_ORDER)
NO_CANDIDATE = int(DeviceStatus.NO_CANDIDATE)

#: Statuses that leave a model that can predict.
TRAINED = tuple(int(status) for status in _TRAINED)
