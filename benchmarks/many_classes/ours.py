"""benchmarks.many_classes: measure kerncast's learners and exported classifiers.

Accuracies are those of the integer model. On the emulated Cortex-M4 labels and outputs are compared with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kerncast.benchmarks.many_classes.machine import COUNTED, Cost, Program
from kerncast.benchmarks.many_classes.tasks import Split, Task
from kerncast.sim.interop import raw_inputs
from kerncast.sim.interop.plan import plan as plan_of
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus

#: Tables [kernel], and [online] or [rls], of a learner.
Tables = dict[str, dict[str, Any]]


def _tables(budget: int, sigma: float, eta: float, quantise: float, **more: Any) -> Tables:
    return {"kernel": {"sigma": sigma},
            "online": {"budget": budget, "eta": eta, "quantise": quantise, **more}}


def _features(count: int, sigma: float, ridge: float, steps: int) -> Tables:
    """Return the spec tables of kernel RLS, with little forgetting."""
    return {"kernel": {"sigma": sigma},
            "rls": {"features": count, "ridge": ridge, "steps": steps, "forgetting": 0.9999}}


#: Task and title -> learner; choose.py found the values after the dictionary size.
LEARNERS: dict[tuple[str, str], Tables] = {
    ("digits", "N = 50"): _tables(50, 24.5, 0.5, 0.5),
    ("digits", "N = 100"): _tables(100, 24.5, 0.5, 0.5),
    ("speakers", "N = 16, linear part"): _tables(16, 33.3, 0.2, 0.7, linear="rls", joint=True,
                                                 linear_ridge=1000.0),
    ("speakers", "N = 50"): _tables(50, 33.3, 0.8, 0.7),
    ("speakers", "N = 100"): _tables(100, 23.3, 0.8, 0.9),
    ("speakers", "2 cosines"): _features(2, 266.3, 0.01, 40),
    ("speakers", "16 cosines"): _features(16, 266.3, 0.01, 40),
    ("activities", "N = 8, linear part"): _tables(8, 16.2, 0.5, 0.7, linear="rls", joint=True,
                                                  linear_ridge=1000.0),
    ("activities", "N = 8"): _tables(8, 22.6, 0.8, 0.7),
    ("activities", "N = 16"): _tables(16, 22.6, 0.8, 0.9),
}
#: Task -> sigma, lambda and steps of the batch trainer.
BATCH = {"digits": (12.3, 0.2, 16), "speakers": (93.2, 0.2, 16), "activities": (22.6, 0.05, 16)}
#: Task -> sigma and C of the support vector classifier.
MACHINES = {"digits": (24.5, 10.0), "speakers": (66.6, 10.0), "activities": (16.2, 1.0)}
#: Calls of a batch trainer.
TRAINER = """<p>_model_t model;
<p>_trainer_t trainer;
int begin(void);
int learn(int label);
int finish(void);
int begin(void) { return (int)<p>_train_begin(&trainer); }
int learn(int label) { return (int)<p>_train_push(&trainer, x, (uint8_t)label); }
int finish(void)
{
    kc_status_t status;
    do { status = <p>_train_run(&trainer, 1000u); } while (status == KC_PENDING);
    return (int)<p>_train_commit(&trainer, &model);
}
"""


@dataclass(frozen=True)
class Row:
    """Accuracies of a method, one per order, and its costs.

    `peer` is true for other libraries.
    """

    method: str
    where: str
    accuracies: tuple[float, ...]
    cost: Cost
    peer: bool = True


def spec_of(task: Task, algorithm: str, **tables: Any) -> Spec:
    """Return a spec for a task."""
    return Spec(model={"name": task.name, "algorithm": algorithm},
                input={"word": task.word, "columns": task.split(0).x.shape[1]},
                output={"classes": [str(label) for label in range(task.classes)]}, numbers={"word": 16},
                **tables)


def learner_spec(task: Task, tables: Tables) -> Spec:
    """Return the spec of an online learner."""
    if "rls" in tables:
        return spec_of(task, "online_kernel_rls", **tables)
    return spec_of(task, "kernel_lms", kernel=tables["kernel"],
                   online={"reduction": "nt", **tables["online"]})


def batch_spec(task: Task, sigma: float, lam: float, steps: int, n: int) -> Spec:
    """Return the spec of the batch trainer of n samples."""
    return spec_of(task, "kernel_cg", kernel={"sigma": sigma}, cg={"n": n, "lambda": lam, "steps": steps})


def machine_of(task: Task, split: Split) -> Any:
    """Return scikit-learn's support vector classifier, fitted to the training samples."""
    from sklearn.svm import SVC

    sigma, c = MACHINES[task.name]
    return SVC(gamma=0.5 / sigma**2, C=c).fit(split.x, split.y)


def program(plan: Plan, calls: str) -> Program:
    """Build the generated C with a main program."""
    p, model = plan.name, "" if plan.fixed else "&model, "
    main = (
        f'#include "{p}.h"\n{p}_in_t x[{plan.sizes["D"]}];\nint predict(void);\n{calls}'
        f"int predict(void)\n{{\n    uint8_t label;\n"
        f"    return KC_USABLE({p}_model_classify({model}x, &label, 0)) ? label : -1;\n}}\n")
    return Program({"main.c": main}, plan.signals["x_raw"].format.c_type.removesuffix("_t"),
                   ("-DKC_PORTABLE=0",), plan=plan)


def same(plan: Plan, found: Any, expected: Any, what: str) -> None:
    """Raise SystemExit if a value differs from the integer model."""
    if not np.array_equal(found, expected):
        raise SystemExit(f"{plan.name}: {what} differ from the integer model's")


def learner_row(task: Task, title: str, tables: Tables) -> Row:
    """Measure an online learner; its program runs the first order."""
    accuracies = []
    for split in task.splits():
        plan = make_plan(learner_spec(task, tables), split.x, split.y)
        model = open_model(plan)
        model.update(split.x, split.y)
        accuracies.append(split.accuracy(model.predict(split.x_test)["label"]))
    split = task.split(0)
    plan = make_plan(learner_spec(task, tables), split.x, split.y)
    p, model = plan.name, open_model(plan)
    update = f"{p}_{plan.update_name}(&model, x, (uint8_t)label, f)"
    made = program(plan, f"{p}_model_t model;\n{p}_out_t f[{plan.outputs}];\nint learn(int label);\n"
                   f"int learn(int label) {{ return (int){update}; }}\n")
    learning = list(zip(split.x, split.y.tolist(), strict=True))
    for x, label in learning[:-COUNTED]:
        expected = model.update(x[None], np.array([label]))["f"][0]
        made.learn(x, label)
        same(plan, made.core.read("f", np.int16, plan.outputs), expected, "outputs")
    cost = made.cost(split.x_test, learning[-COUNTED:])
    model.update(split.x[-COUNTED:], split.y[-COUNTED:])
    same(plan, made.labels(split.x_test[:COUNTED]), model.predict(split.x_test[:COUNTED])["label"], "labels")
    return Row(f"kerncast, {plan.algorithm}, {title}", "device", tuple(accuracies), cost, peer=False)


def trained(task: Task, split: Split) -> tuple[Plan, Any]:
    """Return the plan and the integer model of the batch trainer."""
    plan = make_plan(batch_spec(task, *BATCH[task.name], len(split.y)), split.x, split.y)
    model = open_model(plan)
    if int(model.train(split.x, split.y)["status"][0]) != DeviceStatus.OK:
        raise SystemExit(f"{plan.name}: the training did not succeed")
    return plan, model


def batch_row(task: Task) -> Row:
    """Measure the batch trainer.

    The instructions to learn are those of the training, divided by its samples.
    """
    accuracies = []
    for split in task.fits():
        _, model = trained(task, split)
        accuracies.append(split.accuracy(model.predict(split.x_test)["label"]))
    split = task.split(0)
    plan, model = trained(task, split)
    p = plan.name
    made = program(plan, TRAINER.replace("<p>", p))
    made.core.start_counting()
    count = made.core.call("begin")[1]
    count += sum(made.learn(x, label) for x, label in zip(split.x, split.y.tolist(), strict=True))
    status, last = made.core.call("finish")
    if status != DeviceStatus.OK:
        raise SystemExit(f"{p}: the training returned status {status} on the core")
    cost = made.cost(split.x_test)
    same(plan, made.labels(split.x_test[:COUNTED]), model.predict(split.x_test[:COUNTED])["label"], "labels")
    return Row("kerncast, kernel_cg", "device", tuple(accuracies),
               replace(cost, learn=(count + last) / len(split.y)), peer=False)


def exported_row(task: Task) -> Row:
    """Measure an exported support vector classifier."""
    accuracies, split = [], task.split(0)
    for part in task.fits():
        svc = machine_of(task, part)
        plan = plan_of(svc, part.x, name=task.name, word=16)
        labels = open_model(plan).predict(raw_inputs(plan, part.x_test))["label"]
        accuracies.append(part.accuracy(svc.classes_[labels]))
    plan = plan_of(machine_of(task, split), split.x, name=task.name, word=16)
    made, inputs = program(plan, ""), raw_inputs(plan, split.x_test)
    cost = made.cost(inputs)
    same(plan, made.labels(inputs[:COUNTED]), open_model(plan).predict(inputs[:COUNTED])["label"], "labels")
    return Row("kerncast, exported SVC", "computer", tuple(accuracies), cost, peer=False)


def our_rows(task: Task) -> Iterator[Row]:
    """Measure kerncast, for all its rows of the table."""
    for (name, title), tables in LEARNERS.items():
        if name == task.name:
            yield learner_row(task, title, tables)
    yield batch_row(task)
    yield exported_row(task)
