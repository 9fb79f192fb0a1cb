"""sim: catalogue entries for warnings.

A warning means that the spec is valid, but that the results are probably poor.
"""

from __future__ import annotations

from ..errors import Entry

WARNINGS = {
    "W201": Entry("lambda is smaller than the rounding of the kernel",
                  "lambda is less than one LSB of the kernel values. Rounding can then lower the smallest "
                  "eigenvalue by more than lambda raises it, and training may end with "
                  "NOT_POSITIVE_DEFINITE. Polynomial and linear kernels of large inputs have a large LSB.",
                  "Scale the inputs with [input] offset and gain, raise lambda, or set a longer word "
                  "length."),
    "W202": Entry("no error bound can be certified",
                  "Rounding all kernel values may lower the smallest eigenvalue by more than lambda raises "
                  "it. Or the scheme is diagonal_mean, for which no bound on that eigenvalue is known. The "
                  "solution may be good, but its status is INACCURATE.",
                  "Raise lambda, set a longer word length, or use diagonal_mean_biased."),
    "W203": Entry("the predictions round to zero",
                  "Every prediction is below half an LSB of y: lambda is very large, the targets use little "
                  "of the range of [output] word, or eta is too small to change any coefficient.",
                  "Set lambda or eta closer to 1, or choose a shorter format for `word` in [output]."),
    "W204": Entry("the word length is too coarse for the targets",
                  "y has the range of `word` in [output], and the targets use so few of its steps that "
                  "rounding changes them by more than one percent. The certified bound does not include "
                  "this error, so the status may be OK.",
                  "Choose a shorter format for `word` in [output], whose range the targets use, or set a "
                  "longer [numbers] word."),
    "W205": Entry("the word length is too short for the inputs",
                  "x has the range of `word` in [input], and its steps are so large that rounding changes "
                  "the inputs by more than one percent of the kernel's width (sigma; for the periodic kernel "
                  "sigma * period / 2 pi; for a kernel of u.v the magnitude of the inputs). No bound and no "
                  "status includes this error.",
                  "Choose a shorter format for `word` in [input], whose range the inputs use, or set a "
                  "longer [numbers] word."),
    "W206": Entry("eta is near or outside the stable range",
                  "If the kernel value is 1, each sample multiplies the error by 1 - eta rho - eta. If eta "
                  "is 2 / (1 + rho) or more, the error grows with every sample. If the assumptions of "
                  "a reduction do not hold, the learner may diverge at a smaller eta.",
                  "Use a smaller eta; start with 0.1."),
    "W207": Entry("no sample is learnt",
                  "A new coefficient is eta times the error, at first eta times y. Even the largest y gives "
                  "a coefficient below truncation, or below max_deterioration with metric = \"magnitude\". "
                  "Every new center is therefore evicted, and the dictionary stays empty.",
                  "Lower the key in the message; start with a hundredth of eta times the largest y."),
    "W208": Entry("predictions differ from the estimator's",
                  "On the samples given, the fixed-point predictions differ from the estimator's in float64 "
                  "by more than one percent of their range. Large coefficients that nearly cancel, from a "
                  "small alpha or a large C, leave few significant bits in a short word.",
                  "Set the longer word length in the message, or fit with more regularisation."),
    "W209": Entry("the kernel is too broad for projection",
                  "The projection of fklms and fmklms assumes that stored vectors hardly overlap. On the "
                  "data given, the sum of squared kernel values of a vector with its neighbours exceeds 2, "
                  "so the projection adds back more than twice the contribution of the evicted vector. "
                  "Integers saturate, float64 diverges, and no status reports it.",
                  "Set [online] guard = true, which stops such projections. Or lower sigma or the dictionary "
                  "size, or use reduction = \"nt\", which does not project."),
}
