"""sim: catalogue entries for models trained elsewhere."""

from __future__ import annotations

from ..errors import Entry

TRAINED = {
    "E270": Entry("the estimator is not fitted",
                  "The estimator lacks the attributes that `fit` sets. Or it has no support vectors, like an "
                  "SVR whose epsilon exceeds all targets, and predicts the same value for every sample.",
                  "Fit the estimator first; if it has no support vectors, lower epsilon and fit it again."),
    "E271": Entry("this kind of estimator cannot be exported",
                  "Only kernel expansions can be exported: SVC, SVR, KernelRidge, GaussianProcessRegressor "
                  "and similar, OneVsRestClassifier, the estimators of kerncast, and pipelines of scalers "
                  "before one of them.",
                  "Use one of these estimators. For another model, write the file of a trained model "
                  "yourself."),
    "E272": Entry("the estimator's kernel is not supported on the device",
                  "The supported kernels are gaussian (rbf), laplacian, polynomial and linear, and, for a "
                  "Gaussian process, one RBF or Matern kernel (nu = 1.5 or 2.5); precomputed kernels and "
                  "Python functions are not supported.",
                  "Fit the estimator with one of these kernels."),
    "E273": Entry("the outputs of the estimator cannot be exported together",
                  "All outputs must share one row of kernel values, and so one kernel and one scale per "
                  "column. Estimators with an output per pair of classes are limited to 32 classes.",
                  "Fit the estimators of a OneVsRestClassifier with one kernel, or export one per output."),
    "E274": Entry("sparse arrays", "The device stores every column of every center.",
                  "Fit and predict with dense arrays: X.toarray()."),
    "E275": Entry("the file does not contain a valid trained model",
                  "[predictor] file does not exist, is damaged, or was not written by kerncast.export.",
                  "Check the path, which is relative to the spec, or export the model again."),
    "E276": Entry("the trained model is not the one that the spec names",
                  "The file's hash differs from [predictor] sha256: the file was changed, or the model was "
                  "trained again.",
                  "Export the model again, which writes both the file and its hash."),
    "E277": Entry("the trained model does not fit the spec",
                  "The spec and the trained model have different kernels or different numbers of columns.",
                  "Correct [input] columns or [kernel], or export the model again."),
    "E278": Entry("the scales of coefficients, kernel values and predictions differ too much",
                  "No shift of at most 62 bits converts products of coefficients and kernel values to the "
                  "format of the predictions.",
                  "Choose a format for `word` in [output] whose full scale is close to the largest "
                  "prediction, or set [numbers] word = 32."),
    "E279": Entry("a model that was trained elsewhere cannot be trained",
                  "The command trains, or advises on training, but the algorithm of the spec is "
                  "kernel_predictor.",
                  "Train the model with the tool that made it, and export it again; kerncast sim reports its "
                  "error."),
}
