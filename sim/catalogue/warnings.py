"""sim: the part of the catalogue that tells of warnings: what runs, but will hardly do what was wanted."""

from __future__ import annotations

from ..errors import Entry

WARNINGS = {
    "W201": Entry("lambda is lost in the rounding of the kernel",
                  "lambda is less than one lsb of the words that hold kernel values. Rounding then takes "
                  "more from the least eigenvalue than lambda gives, and trainings may end with "
                  "NOT_POSITIVE_DEFINITE. Polynomial and linear kernels of large inputs have a large lsb.",
                  "Scale the inputs with [input] offset and gain, raise lambda, or take a longer word."),
    "W202": Entry("no bound can be certified",
                  "Rounding all kernel values may take more from the least eigenvalue than lambda gives; "
                  "or the scheme is diagonal_mean, where nothing is known of the least eigenvalue. The "
                  "answer may be good, but its status is INACCURATE.",
                  "Raise lambda, take a longer word, or use diagonal_mean_biased."),
    "W203": Entry("the words cannot show the answer",
                  "Every prediction is below half an lsb of y: lambda is very large, or the targets fill "
                  "little of their raw word; or eta is so small that no multiplier ever moves.",
                  "Bring lambda or eta nearer to 1, or describe the targets by a shorter [output] word."),
    "W204": Entry("the words are too coarse for the targets",
                  "Words of y reach as far as the raw words do, and the targets fill so few of their "
                  "steps that rounding them alone costs more than a percent. The certified bound is of the "
                  "system in words: this error is not in it, and the status may be OK.",
                  "Describe the targets by a shorter [output] word that they fill, or take a longer "
                  "[numbers] word."),
    "W205": Entry("the words are too coarse for the inputs",
                  "Words of x reach as far as the raw words do, and their steps are so long that rounding "
                  "moves samples by more than a percent of the kernel's width (sigma; for the periodic "
                  "kernel sigma * period / 2 pi; for products of inputs their size). No bound and no status "
                  "tells this error.",
                  "Describe the inputs by a shorter [input] word that they fill, or take a longer "
                  "[numbers] word."),
    "W206": Entry("eta is near or outside the stable range",
                  "Each sample multiplies what the model lacks by 1 - eta rho - eta where the kernel is 1: "
                  "from eta = 2 / (1 + rho) up an error grows with every sample. A reduction whose "
                  "assumptions do not hold may bring divergence before.",
                  "Use a smaller eta; start with 0.1."),
    "W207": Entry("nothing that is learnt stays",
                  "A new multiplier is eta times the error, at first eta times y. truncation, or with metric "
                  "magnitude max_deterioration, drops all that are no larger, and no y is large enough: no "
                  "vector is ever held.",
                  "Lower the key named; start with a hundredth of eta times the largest y."),
    "W208": Entry("predictions differ from the estimator's",
                  "On the samples given the words predict otherwise than the estimator in float64, by more "
                  "than a percent of the range of its predictions: large multipliers that nearly cancel, as "
                  "of a small alpha or a large C, leave little of a short word.",
                  "Take the longer word named, or fit with more regularisation."),
}
