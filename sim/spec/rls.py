"""sim.spec: the table of online kernel RLS with random features."""

from __future__ import annotations

from .fields import SpecTable
from .fields import key as _key

#: Limits of the novelty and of its release.
LEAST_NOVELTY, MOST_NOVELTY = 1e-4, 1e3


class Rls(SpecTable):
    """Online kernel recursive least squares with random features."""

    features: int = _key(100, ge=2, le=512, about="random cosines that approximate the kernel (M)",
                         allowed="an integer, 2 to 512",
                         remedy="start with 100; time and memory grow as features^2")
    forgetting: float = _key(0.999, ge=0.6, le=0.99999,
                             about="forgetting factor: after t more samples, a sample has weight "
                                   "forgetting^t",
                             allowed="a number, 0.6 to 0.99999",
                             remedy="start with 0.999; 0.99 follows faster changes")
    ridge: float = _key(1e-3, gt=0, ge=1e-12, le=1e3, about="penalty on the squares of the coefficients",
                        allowed="a number above 0, 1e-12 to 1000", remedy="start with 0.001")
    linear: bool = _key(True, about="use the inputs as features too", allowed="true, false",
                        remedy="use false if the relation has no linear part")
    steps: int = _key(10, ge=1, le=1024, about="maximum number of coefficients that change per sample",
                      allowed="an integer, 1 to 1024",
                      remedy="start with 10; time grows as steps * features")
    seed: int = _key(0, ge=0, le=2**31 - 1, about="seed of the cosines", allowed="an integer from 0",
                     remedy="use any seed; the same seed gives the same tables")
    passes: int = _key(1, ge=1, le=1000, about="number of passes over the training data",
                       allowed="an integer, 1 to 1000", remedy="use 1 for a stream")

    novelty: float | None = _key(
        None, ge=LEAST_NOVELTY, le=MOST_NOVELTY,
        about="leverage at or above which a sample is novel; omit it to disable novelty",
        allowed="a number, 0.0001 to 1000",
        remedy="start with 1; `kerncast sim` prints the quantiles of the leverage")
    novelty_release: float | None = _key(
        None, ge=LEAST_NOVELTY, le=MOST_NOVELTY,
        about="leverage below which the novelty ends; the default is novelty / 2",
        allowed="a number, 0.0001 to the value of `novelty`", remedy="start with half of `novelty`")
    novelty_steps: int | None = _key(
        None, ge=1, le=1024, about="maximum number of steps that approximate a leverage; the default is 16",
        allowed="an integer, 1 to 1024", remedy="start with 16; time grows as novelty_steps * features")
    drift_samples: int | None = _key(
        None, ge=1, le=65535, about="excess of novel samples over other samples that sets the drift flag; "
                                    "the default is 16",
        allowed="an integer, 1 to 65535", remedy="start with 16")

    @property
    def options(self) -> dict[str, str]:
        """Return the values of the keys as text, for the options of a plan."""
        return {"forgetting": repr(self.forgetting), "ridge": repr(self.ridge),
                "inputs": str(int(self.linear)), "steps": str(self.steps), "seed": str(self.seed),
                **({} if self.novelty is None else {"novelty": repr(self.novelty)})}
