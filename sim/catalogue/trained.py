"""sim: the part of the catalogue that tells of models trained elsewhere."""

from __future__ import annotations

from ..errors import Entry

TRAINED = {
    "E270": Entry("the estimator is not fitted",
                  "It has not the attributes that fit leaves; or it holds no vectors, as an SVR within whose "
                  "epsilon all targets lie, and predicts the same for every sample.",
                  "Fit it first; or lower epsilon and fit it again."),
    "E271": Entry("no predictor is made of this kind of estimator",
                  "A predictor is a kernel expansion: SVC, SVR, KernelRidge, GaussianProcessRegressor and "
                  "their like, the estimators of kerncast, and pipelines of scalers before one of them.",
                  "Take one of these; of another model, write the file of a trained model yourself."),
    "E272": Entry("no device of ours computes the estimator's kernel",
                  "It is precomputed, a function of Python, or one that is not among gaussian (rbf), "
                  "laplacian, polynomial and linear; of Gaussian processes, more than one RBF.",
                  "Fit it with one of those listed."),
    "E273": Entry("the estimator has several outputs",
                  "A prediction is one number: one target, or the decision between two classes.",
                  "Export one estimator for each output, or for each class against the rest."),
    "E274": Entry("sparse arrays", "The device holds every column of every vector.",
                  "Fit and call with dense arrays: X.toarray()."),
    "E275": Entry("not the file of a trained model",
                  "[predictor] file is not there, damaged, or no file that kerncast.export wrote.",
                  "Check the path, which is relative to the spec; or export the model again."),
    "E276": Entry("the trained model is another than the spec was made for",
                  "The file has not the hash in [predictor] sha256: it was changed, or the model was "
                  "trained anew.",
                  "Export the model again, which writes both."),
    "E277": Entry("the trained model does not fit the spec",
                  "Its vectors have other columns, or its multipliers belong to another kernel, than the "
                  "spec says.",
                  "Correct [input] columns or [kernel], or export the model again."),
    "E278": Entry("multipliers, kernel values and predictions lie too far apart for the words",
                  "No shift of at most 62 bits leads from products of multipliers and kernel values to words "
                  "of the predictions.",
                  "Give an [output] word whose full scale is what the predictions reach, or set [numbers] "
                  "word = 32."),
    "E279": Entry("a model that was trained elsewhere is not trained",
                  "The command trains, or advises on training, and the spec's algorithm is "
                  "kernel_predictor.",
                  "Train where the model came from and export it again; kerncast sim says how well it "
                  "predicts."),
}
