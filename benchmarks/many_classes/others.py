"""benchmarks.many_classes: programs of other libraries.

The exponential of `FREE` is an empty function, so that instructions and flash of the programs that call it
are lower bounds. Their labels come from a program with the exponential of `REAL`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kerncast.benchmarks.beside import FREE, array
from kerncast.benchmarks.many_classes.tasks import Split

_REDUCED = """double pow(double x, double y) { (void)y; return x * x; }
double exp(double x)
{
    int k = (int)(x * 1.4426950408889634 - 0.5), i;
    double r = x - k * 0.6931471805599453, sum = 1.0;
    for (i = 13; i > 0; i--) { sum = 1.0 + r * sum / i; }
    for (; k < 0; k++) { sum *= 0.5; }
    return sum;
}
float expf(float x) { return (float)exp(x); }
"""
#: Squares and exponentials, empty or computed by a series.
EXPONENTIALS = {"free": FREE.partition("\n")[2], "real": _REDUCED}


def nearest(split: Split, held: int) -> str:
    """Return a program with emlearn's nearest neighbour, which stores samples."""
    columns = split.x.shape[1]
    return f"""#include <string.h>
#include <eml_neighbors.h>
static int16_t data[{held * columns}], labels[{held}];
static EmlNeighborsDistanceItem distances[{held}];
static EmlNeighborsModel model = {{{columns}, 0, {held}, data, labels, 1}};
int16_t x[{columns}];
int learn(int label) {{ return eml_neighbors_add_item(&model, x, {columns}, (int16_t)label); }}
int predict(void)
{{
    int16_t label = -1;
    return eml_neighbors_predict(&model, x, {columns}, distances, {held}, &label) == EmlOk ? label : -1;
}}
"""


def trees(split: Split, forest: Any) -> str:
    """Return a program with emlearn's code of a random forest."""
    import emlearn

    columns = split.x.shape[1]
    code = emlearn.convert(forest, method="inline", dtype="int16_t").save(name="forest", format="c")
    return (f"{code}\nint16_t x[{columns}];\nint predict(void) {{ return forest_predict(x, {columns}); }}\n")


def m2cgen(split: Split, classifier: Any, exponential: str) -> str:
    """Return a program with m2cgen's C of a support vector classifier or a linear one."""
    from m2cgen import export_to_c

    classes, columns = len(classifier.classes_), split.x.shape[1]
    pairs = hasattr(classifier, "support_")
    return (export_to_c(classifier) + EXPONENTIALS[exponential]
            + f"double x[{columns}];\n"
            + f"static double f[{classes * (classes - 1) // 2 if pairs else classes}];\n"
            + "int predict(void)\n{\n    score(x, f);\n" + (votes(classes) if pairs else largest(classes))
            + "}\n")


def votes(classes: int) -> str:
    """Return C that counts the votes of f, one value per pair of classes."""
    return (f"    int i, j, k = 0, best = 0, count[{classes}] = {{0}};\n"
            f"    for (i = 0; i < {classes}; i++) {{\n        for (j = i + 1; j < {classes}; j++) {{\n"
            "            count[f[k++] > 0 ? i : j]++;\n        }\n    }\n"
            f"    for (i = 1; i < {classes}; i++) {{ best = count[i] > count[best] ? i : best; }}\n"
            "    return best;\n")


def largest(classes: int) -> str:
    """Return C that finds the largest value of f."""
    return ("    int i, best = 0;\n"
            f"    for (i = 1; i < {classes}; i++) {{ best = f[i] > f[best] ? i : best; }}\n"
            "    return best;\n")


def micromlgen(split: Split, svc: Any, exponential: str) -> str:
    """Return a C++ program with micromlgen's code of a support vector classifier."""
    from micromlgen import port

    return ("#include <stdint.h>\n#include <math.h>\n" + port(svc)
            + f'extern "C" {{\n{EXPONENTIALS[exponential]}float x[{split.x.shape[1]}];\n'
            "Eloquent::ML::Port::SVM svm;\nint predict(void) { return svm.predict(x); }\n}\n")


def cmsis(split: Split, machines: Sequence[Any], gamma: float, exponential: str) -> str:
    """Return a program with CMSIS-DSP's classifiers of one class against the rest.

    `arm_svm_rbf_predict_f32` returns a class, and not its decision value, so the label is the first class
    that accepts the sample.
    """
    columns = split.x.shape[1]
    parts, instances = [], []
    for at, machine in enumerate(machines):
        vectors = np.asarray(machine.support_vectors_, dtype=float)
        parts += [array("float32_t", f"vectors{at}", vectors),
                  array("float32_t", f"dual{at}", machine.dual_coef_)]
        instances.append(f"{{{len(vectors)}, {columns}, {float(machine.intercept_[0]):.9e}f, dual{at}, "
                         f"vectors{at}, classes, {gamma:.9e}f}}")
    return ('#include "arm_math.h"\n#include "dsp/svm_functions.h"\n' + EXPONENTIALS[exponential]
            + "".join(parts) + "const int32_t classes[2] = {0, 1};\n"
            + f"const arm_svm_rbf_instance_f32 svm[{len(machines)}] = {{{', '.join(instances)}}};\n"
            + f"float32_t x[{columns}];\nint predict(void)\n{{\n    int32_t i, is = 0;\n"
            + f"    for (i = 0; i < {len(machines)}; i++) {{\n"
            + "        arm_svm_rbf_predict_f32(&svm[i], x, &is);\n        if (is) { return i; }\n    }\n"
            + "    return 0;\n}\n")


def linear(split: Split, logistic: Any) -> str:
    """Return a program of a logistic regression, with CMSIS-DSP's dot product."""
    columns, classes = split.x.shape[1], len(logistic.classes_)
    return ('#include "arm_math.h"\n#include "dsp/basic_math_functions.h"\n'
            + array("float32_t", "w", np.asarray(logistic.coef_))
            + array("float32_t", "b", logistic.intercept_)
            + f"float32_t x[{columns}];\nint predict(void)\n{{\n    int i, best = 0;\n"
            f"    float32_t f, most = 0;\n    for (i = 0; i < {classes}; i++) {{\n"
            f"        arm_dot_prod_f32(x, &w[{columns} * i], {columns}, &f);\n        f += b[i];\n"
            "        if (i == 0 || f > most) { most = f; best = i; }\n    }\n    return best;\n}\n")
