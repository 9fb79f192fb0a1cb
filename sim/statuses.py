"""sim: the status codes of the device's functions, with causes and remedies.

Status 0 means ok. A positive status is a warning: the result is usable, except that there is none yet with
``PENDING``. A negative status means that the call was refused or failed. The generated C, HLS and RTL code,
``kerncast explain`` and ``kerncast sim`` use the names, codes and texts defined here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from .errors import Entry


class DeviceStatus(IntEnum):
    """Status of a device function, the same in Python, C, HLS, RTL and the link.

    The status of an RTL core is output on the three bits of ``tuser``, in two's complement.
    """

    OK = 0
    NOT_POSITIVE_DEFINITE = -1
    SATURATED = 1
    NOT_TRAINED = -2
    BAD_ARGUMENT = -3
    INACCURATE = 2
    BREAKDOWN = -4
    STALLED = 4
    FULL = 3
    PENDING = 5
    OUT_OF_ORDER = -5
    NO_CANDIDATE = -6

    @property
    def word(self) -> str:
        """Return the name in lower case, as used in results and in :data:`MEANINGS`."""
        return self.name.lower()

    @property
    def usable(self) -> bool:
        """Return whether the result can be used."""
        return 0 <= self < DeviceStatus.PENDING  # the largest, as KC_USABLE of the generated C needs it


class RestoreStatus(IntEnum):
    """Status of saving or restoring a state, in addition to :class:`DeviceStatus`."""

    OK = DeviceStatus.OK
    NONE = -16
    OTHER_VERSION = -17
    OTHER_PLAN = -18
    TRUNCATED = -19
    DAMAGED = -20
    INCONSISTENT = -21
    STORAGE = -22
    BAD_ARGUMENT = DeviceStatus.BAD_ARGUMENT


#: What the status of a saved state means, in few words.
RESTORE_MEANINGS = {
    RestoreStatus.NONE: "no complete saved state",
    RestoreStatus.OTHER_VERSION: "saved with another format version or ABI",
    RestoreStatus.OTHER_PLAN: "saved by a model of another plan",
    RestoreStatus.TRUNCATED: "wrong length for a state of this plan",
    RestoreStatus.DAMAGED: "the checksum does not match",
    RestoreStatus.INCONSISTENT: "the checksum matches, but a value is out of range",
    RestoreStatus.STORAGE: "the storage failed",
}

#: Statuses that leave a model that can predict.
TRAINED = tuple(status for status in DeviceStatus if status.usable)


def severity(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the severity of status codes, which increases from ok to refusals.

    Warnings are between the two.
    """
    return np.where(codes < 0, 128 - codes, codes)


MEANINGS = {
    "ok": Entry("done", "There was no problem.", "Nothing."),
    "not_positive_definite": Entry(
        "not trained: matrix indefinite or too ill-conditioned",
        "The matrix plus lambda I is indefinite, as can happen with diagonal means. Or it is positive "
        "definite, but so ill-conditioned that rounding makes it look indefinite. kerncast sim reports "
        "which.",
        "Raise lambda, lower sigma, or set [numbers] word = 24 or 32. With diagonal means, use scheme = "
        "\"diagonal_mean_biased\" or solver = \"lookahead\". With a kernel matrix, center and scale the "
        "inputs."),
    "saturated": Entry(
        "done, but a value saturated at full scale",
        "A value was outside the range of its format and was clipped to the nearest end of the range.",
        "Find the saturated signal with kerncast sim; give it a larger range or a longer word length."),
    "not_trained": Entry(
        "no prediction: the model is not trained",
        "The model was never trained, or its last training failed.",
        "Train the model, and check the status that training returns."),
    "bad_argument": Entry(
        "a null pointer, or a damaged model",
        "An argument is missing, or the model structure contains values that training never produces.",
        "Initialise the model first; check which other code writes to its memory."),
    "inaccurate": Entry(
        "trained, but the certified error bound exceeds the tolerance",
        "The solution may be good, but its bound does not prove it: lambda is small compared with the "
        "rounding of the kernel, or the solver took too few steps. There is no bound with scheme = "
        "\"diagonal_mean\", or if solver = \"lookahead\" finds that the matrix is indefinite. For a learner "
        "in float32, the inverse of the kernel matrix failed its check twice, and the contribution of the "
        "removed center is lost.",
        "Raise lambda or [cg] steps, set `refine`, a longer word length or scheme = "
        "\"diagonal_mean_biased\". Raise `tolerance` if kerncast sim reports a small error."),
    "breakdown": Entry(
        "not trained: no well-conditioned block of rows was found",
        "Every leading block that solver = \"lookahead\" may use is singular or nearly singular.",
        "Raise lambda."),
    "stalled": Entry(
        "trained, but refinement did not reduce the residual",
        "The word length of the solver is too short for this system, so more refinements do not help.",
        "Raise lambda, or set a longer word length."),
    "full": Entry(
        "the dictionary is full: the new center was evicted",
        "With newest_only = true, only the newest center can be evicted. It was evicted although its loss "
        "exceeds max_deterioration. With projection = \"fklms\", its coefficient is added to the other "
        "centers; with projection = \"none\", the sample is lost.",
        "Raise budget or max_deterioration, or allow the eviction of other centers with newest_only = false, "
        "truncation or max_age."),
    "pending": Entry(
        "more samples or steps are needed",
        "Training in slices is not complete: it needs more samples, or more steps after the last sample. Or "
        "the delay line is not full.",
        "Push the remaining samples. During training, call run until it returns ok, then commit."),
    "out_of_order": Entry(
        "the function was called out of order",
        "The order of training in slices is: begin, push for each sample, run until it returns ok, commit. "
        "A trainer trains one model at a time. Or other code wrote to the memory of the trainer: its "
        "checksum is wrong.",
        "Follow this order; cancel training before you begin again. If the order was correct, check which "
        "other code writes to the trainer."),
    "no_candidate": Entry(
        "not trained: no candidate has a certified solution",
        "For each pair of sigma and lambda, the certified error bound exceeds the tolerance, or rounding "
        "makes the matrix look indefinite.",
        "Add a candidate with a larger lambda or a smaller sigma, raise `tolerance`, or set [numbers] word = "
        "24 or 32."),
}

_ILL_CONDITIONED = ("The matrix is positive definite, but so ill-conditioned that rounding makes it look "
                    "indefinite.")
_LONGER = "or set [numbers] word = 24 or 32."

_UNPROVED = ("The solution may be good, but its bound does not prove it: lambda is small compared with the "
             "rounding of the kernel")

#: Entries that differ by algorithm, and for the Toeplitz trainer by its scheme.
_BY_ALGORITHM = {
    ("not_positive_definite", "toeplitz_rls uniform"): Entry(
        "not trained: matrix too ill-conditioned for the word length",
        _ILL_CONDITIONED, f"Raise lambda, lower sigma, {_LONGER}"),
    ("not_positive_definite", "toeplitz_rls diagonal_mean"): Entry(
        MEANINGS["not_positive_definite"].title,
        "Diagonal means can make the matrix indefinite. Or it is positive definite, but so "
        "ill-conditioned that rounding makes it look indefinite. kerncast sim reports which.",
        f"Use scheme = \"diagonal_mean_biased\" or solver = \"lookahead\", raise lambda, lower sigma, "
        f"{_LONGER}"),
    ("not_positive_definite", "toeplitz_rls diagonal_mean_biased"): Entry(
        "not trained: matrix too ill-conditioned for the word length",
        _ILL_CONDITIONED, f"Raise lambda, lower sigma, {_LONGER}"),
    ("not_positive_definite", "kernel_cg"): Entry(
        "not trained: matrix too ill-conditioned for the word length",
        _ILL_CONDITIONED, "Raise lambda, center and scale the inputs with [input] offset and gain, "
                          f"{_LONGER}"),
    ("inaccurate", "toeplitz_rls uniform"): Entry(
        MEANINGS["inaccurate"].title,
        f"{_UNPROVED}. The bound covers the solution of the system after rounding, but not an intercept.",
        "Raise lambda, set `refine`, or set a longer word length. Raise `tolerance` if kerncast sim reports "
        "a small error."),
    ("inaccurate", "toeplitz_rls diagonal_mean"): Entry(
        "trained, but no error bound is known",
        "With scheme = \"diagonal_mean\", the smallest eigenvalue of the matrix has no lower bound, so the "
        "error has no upper bound.",
        "Use scheme = \"diagonal_mean_biased\", which has a bound. Or accept the status if kerncast sim "
        "reports a small error."),
    ("inaccurate", "toeplitz_rls diagonal_mean_biased"): Entry(
        MEANINGS["inaccurate"].title,
        f"{_UNPROVED}. The bound covers the solution of the system after rounding, but not an intercept.",
        "Raise lambda, set `refine`, or set a longer word length. Raise `tolerance` if kerncast sim reports "
        "a small error."),
    ("inaccurate", "kernel_cg"): Entry(
        MEANINGS["inaccurate"].title,
        f"{_UNPROVED}, or the solver took too few steps. The bound covers the system after rounding.",
        "Raise [cg] steps or lambda, or set a longer word length. Raise `tolerance` if kerncast sim reports "
        "a small error."),
    ("inaccurate", "kernel_lms"): Entry(
        "learnt, but part of the contribution of a removed center is lost",
        "The centers are too close to each other. With guard = true, the projection of the removed center "
        "was stopped because the sum of the squared kernel values exceeded 2. In float32, the inverse of "
        "the kernel matrix failed its check, even after it was computed again.",
        "Lower sigma or budget. Or use `quantise` with reduction = \"nt\", which does not project."),
    ("out_of_order", "kernel_lms"): Entry(
        "the last update is not complete",
        "With bounded_update, the next sample and a save are rejected until update_run has completed all "
        "searches for nearest centers.",
        "Call update_run until it returns ok, then repeat the call."),
    ("saturated", "kernel_lms"): Entry(
        MEANINGS["saturated"].title, MEANINGS["saturated"].cause,
        "Find the saturated signal with kerncast sim. If it is alpha, lower eta or give alpha a larger range "
        "in [numbers.ranges]; if it is f, choose a format with a larger range for `word` in [output]."),
    ("saturated", "online_kernel_rls"): Entry(
        MEANINGS["saturated"].title,
        "A prediction exceeded its format, or a coefficient exceeded the range that follows from the ridge.",
        "Raise `ridge` in [rls]; if f saturates, choose a format with a larger range for `word` in "
        "[output]."),
    ("bad_argument", "kernel_predictor"): Entry(
        "a null pointer", "An argument is missing.", "Pass the address of the input and of the result."),
}


def c_statuses() -> list[tuple[str, int, str]]:
    """List the C name, the code and the meaning of each status.

    The order is ok, warnings, refusals.
    """
    found = [(f"KC_{status.name}", int(status), MEANINGS[status.word].title) for status in DeviceStatus]
    found += [(f"KC_STATE_{status.name}", int(status), text) for status, text in RESTORE_MEANINGS.items()]
    return sorted(found, key=lambda row: (row[1] < 0, abs(row[1])))


def meaning(status: str, algorithm: str, options: Mapping[str, str]) -> Entry:
    """Return the catalogue entry of a status for an algorithm and its options.

    Parameters
    ----------
    status : str
        A name of :data:`MEANINGS`.
    algorithm : str
        The algorithm of the plan.
    options : mapping of str to str
        The options of the plan; for the Toeplitz trainer, the entry depends on the scheme.
    """
    scheme = options.get("scheme")
    of_plan = f"{algorithm} {scheme}" if scheme else algorithm
    return _BY_ALGORITHM.get((status, of_plan), MEANINGS[status])
