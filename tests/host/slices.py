"""A training in slices, call by call, on a back end that runs on the host."""

from kerncast.sim.statuses import DeviceStatus


class Slices:
    """The functions of one back end, by their last word; the samples of a recorded training."""

    def __init__(self, backend, given):
        self.backend, self.plan, self.ffi, self.given = backend, backend.plan, backend.ffi, given
        self.x = None if given.x_raw is None else backend._raw(given.x_raw, "x_raw")
        self.y = backend._raw(given.y_raw, "y_raw")

    def call(self, name, *arguments):
        function = getattr(self.backend.library, f"{self.plan.name}_train_{name}")
        return function(self.backend.trainer, *arguments)

    def push(self, i):
        target = self.y + i * self.plan.targets if self.plan.targets > 1 else self.y[i]
        return self.call("push", *(() if self.x is None else (self.x + i * self.plan.sizes["D"],)), target)

    def collect(self):
        """Begin, and push every sample."""
        assert self.call("begin") == DeviceStatus.OK
        for i in range(self.plan.sizes["n"]):
            assert self.push(i) == DeviceStatus.OK

    def run(self, steps):
        """Train with `steps` steps per call; return the status of the last call."""
        while (status := self.call("run", steps)) == DeviceStatus.PENDING:
            pass
        return status

    def commit(self):
        return self.call("commit", self.backend.model)

    @property
    def model(self):
        """All bytes of the model."""
        return bytes(self.ffi.buffer(self.backend.model))

    @property
    def whole(self):
        """The bytes of the trainer, to be written."""
        return self.ffi.buffer(self.backend.trainer)

    def members(self):
        """The members of the trainer, with the offset of each."""
        return [(f, self.ffi.offsetof(f"{self.plan.name}_trainer_t", f.name)) for f in self.plan.workspace]


def trained_by(vectors):
    """The first training of recorded calls."""
    return next(call for call in vectors.calls if call.name == "train")
