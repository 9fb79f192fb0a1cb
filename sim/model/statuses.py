"""sim.model: statuses of the device's functions, numbered as in :mod:`..statuses`."""

(OK, NOT_POSITIVE_DEFINITE, SATURATED, NOT_TRAINED, BAD_ARGUMENT, INACCURATE, BREAKDOWN,
 STALLED, FULL) = range(9)

#: Statuses that leave a model one can predict with.
TRAINED = (OK, SATURATED, INACCURATE, STALLED, FULL)
