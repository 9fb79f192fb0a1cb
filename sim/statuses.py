"""sim: the statuses of the device's functions in words: what each means, how it comes about, what to do.

The generated header, ``kerncast explain`` and ``kerncast sim`` all take their words from here; the codes
are the places in this table.
"""

from __future__ import annotations

from .errors import Entry

MEANINGS = {
    "ok": Entry("done", "Nothing went wrong.", "Nothing."),
    "not_positive_definite": Entry(
        "untrained: indefinite, or too ill-conditioned for its words",
        "The matrix plus lambda I is indefinite, as means of diagonals may be; or it is positive definite, "
        "but so ill-conditioned that words of this length cannot tell: rounding makes the two look the same. "
        "kerncast sim says which it is.",
        "Raise lambda, lower sigma, or take a longer word, [numbers] word = 24 or 32. For diagonal means: "
        "scheme diagonal_mean_biased or solver lookahead. For a kernel matrix: center and scale the inputs."),
    "saturated": Entry(
        "done, but a word met its rail",
        "A value was larger than the word that holds it and was cut to the largest there is.",
        "Look in kerncast sim for the signal that saturated; give it a larger range or a longer word."),
    "not_trained": Entry(
        "nothing to predict with",
        "The model was never trained, or its last training was refused.",
        "Train it, and look at the status of the training."),
    "bad_argument": Entry(
        "a null pointer, or a damaged model",
        "An argument is missing, or the model structure holds what no training leaves.",
        "Initialise the model first; look for what writes over it."),
    "inaccurate": Entry(
        "trained, but the certified bound exceeds the tolerance",
        "The answer may be good, but nothing proves it: lambda is small beside the rounding of the words, "
        "too few steps were taken, or nothing bounds it: the scheme is diagonal_mean, or the solver looks "
        "ahead and the matrix plus lambda I is indefinite. The bound is of the system in words, and with an "
        "intercept of alpha for the one beside it. Of a learner in float32: the inverse of the kernel matrix "
        "failed its check, made afresh too, and what the removed vector said is lost.",
        "Raise lambda or steps, refine, or take a longer word or scheme diagonal_mean_biased; or raise "
        "tolerance, if kerncast sim shows that the error is small enough."),
    "breakdown": Entry(
        "untrained: no well conditioned block of rows was found",
        "Every leading block that look-ahead may take is singular, or nearly so.",
        "Raise lambda."),
    "stalled": Entry(
        "trained, but refinement did not reduce the residual",
        "The solver's words are too short for this system, so that further solves do not help.",
        "Raise lambda, or take a longer word."),
    "full": Entry(
        "the memory is full: the new vector did not stay",
        "With newest_only no other vector may go. The newest went although more was lost with it than "
        "max_deterioration permits. With projection fklms its multiplier went to those that stayed; "
        "with none, nothing of the sample is kept.",
        "Raise budget or max_deterioration, or let others go: newest_only = false, truncation or max_age."),
}
