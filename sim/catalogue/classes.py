"""sim: catalogue entries for classifiers and for models with several outputs."""

from __future__ import annotations

from ..errors import Entry

CLASSES = {
    "E122": Entry("the classes are not valid",
                  "[output] classes must list each class once, in the order of the labels: at least two, "
                  "with printable names.",
                  "Correct the list; the names must be those in the data."),
    "E123": Entry("the algorithm has one output on the device",
                  "[output] classes and several outputs need an algorithm that computes all outputs from one "
                  "row of kernel values.",
                  "Learn with kernel_lms, kernel_cg or online_kernel_rls, or train with scikit-learn and "
                  "export the model."),
    "E124": Entry("the command supports one output",
                  "Sweeps, reports and kerncast explore support one value per sample, but the spec has "
                  "[output] classes or several outputs. kerncast fit supports classes.",
                  "Run kerncast sim, which prints accuracy, recall and the confusion matrix."),
}
