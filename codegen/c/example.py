"""codegen: write the example program for the README of a generated folder."""

from __future__ import annotations

from ...sim.plan import Plan


def example(plan: Plan) -> str:
    """Return an example program of about ten lines that compiles without changes."""
    trains, uniform = plan.trains, plan.uniform
    p, x = plan.name, "" if trains and uniform else f"const {plan.name}_in_t *x, "
    head = [f'#include "{p}.h"', ""]
    predict = [f"{p}_out_t f = 0;"]
    if plan.learns and (plan.decision or plan.outputs > 1):
        return _learner_example(plan, head)
    if trains and (plan.decision or plan.outputs > 1):
        return "\n".join([*head, *_trainer_example(plan, x)])
    if plan.delay:
        return "\n".join([*head, *_delayed(plan)])
    if plan.decision:
        return "\n".join([*head, f"uint8_t classify(const {p}_in_t *x)", "{",
                          f"    uint8_t label = {p.upper()}_CLASSES; /* none of them */", "",
                          f"    (void){p}_model_classify(x, &label, 0);", "    return label;", "}"])
    if plan.outputs > 1:
        return "\n".join([*head, f"int predict(const {p}_in_t *x, {p}_out_t f[{p.upper()}_OUTPUTS])", "{",
                          f"    return KC_USABLE({p}_model_predict(x, f));", "}"])
    if plan.fixed:
        return "\n".join([*head, f"{p}_out_t predict(const {p}_in_t *x)", "{", f"    {predict[0]}", "",
                          f"    return KC_USABLE({p}_model_predict(x, &f)) ? f : 0;", "}"])
    head += [f"static {p}_model_t model; /* {p}_model_init(&model) at the start */", ""]
    if trains:
        given = "&trainer, &model, y" if uniform else "&trainer, &model, x, y"
        head.insert(2, f"static {p}_trainer_t trainer;")
        return "\n".join([
            *head, f"{p}_out_t train_and_predict({x}const {p}_target_t *y, const {p}_in_t *x_new)", "{",
            f"    {predict[0]}", "", f"    if (KC_USABLE({p}_train({given}))) {{",
            f"        (void){p}_model_predict(&model, x_new, &f);", "    }", "    return f;", "}"])
    return "\n".join([
        *head, f"{p}_out_t learn(const {p}_in_t *x, {p}_target_t y)", "{",
        f"    {p}_out_t f = 0; /* the prediction before learning */", "",
        f"    (void){p}_{plan.update_name}(&model, x, y, &f);", "    return f;", "}"])


def _delayed(plan: Plan) -> list[str]:
    """Return an example program for a delay line, which receives one sample per call."""
    p, several = plan.name, plan.channels > 1
    sample = f"const {p}_in_t reading[{p.upper()}_DELAY_CHANNELS]" if several else f"{p}_in_t sample"
    lines = [f"static {p}_delay_t line;"] + ([] if plan.fixed else [
        f"static {p}_model_t model; /* {p}_model_init(&model) at the start */"])
    push = f"{p}_delay_push(&line, {'reading' if several else 'sample'}) == KC_OK"
    if plan.decision:
        return [*lines, "", f"uint8_t classify({sample})", "{",
                f"    uint8_t label = {p.upper()}_CLASSES; /* none of them */", "", f"    if ({push}) {{",
                f"        (void){p}_model_classify({p}_delay_window(&line), &label, 0);", "    }",
                "    return label;", "}"]
    if plan.outputs > 1:
        return [*lines, "", f"int predict({sample}, {p}_out_t f[{p.upper()}_OUTPUTS])", "{",
                f"    return {push} && {p}_delay_predict(&line, f) == KC_OK;", "}"]
    call = f"predict({sample})" if plan.fixed else f"learn({sample}, {p}_target_t y)"
    does = "predict(&line, &f)" if plan.fixed else "update(&model, &line, y, &f)"
    return [*lines, "", f"{p}_out_t {call}", "{", f"    {p}_out_t f = 0; /* while the line fills */", "",
            f"    if ({push}) {{", f"        (void){p}_delay_{does};", "    }", "    return f;", "}"]


def _learner_example(plan: Plan, head: list[str]) -> str:
    """Return an example program for an online learner with classes or several outputs."""
    p, P = plan.name, plan.name.upper()
    head += [f"static {p}_model_t model; /* {p}_model_init(&model) at the start */", ""]
    target = f"{p}_target_t label" if plan.decision else f"const {p}_target_t *y"
    body = [f"void learn(const {p}_in_t *x, {target})", "{",
            f"    {p}_out_t f[{P}_OUTPUTS]; /* the outputs before learning */", "",
            f"    (void){p}_lms_update(&model, x, {'label' if plan.decision else 'y'}, f);", "}"]
    return "\n".join([*head, *body, *_classify(plan)])


def _classify(plan: Plan) -> list[str]:
    """Return a function that classifies a sample, as lines; empty for a regressor."""
    p = plan.name
    return ["", f"uint8_t classify(const {p}_in_t *x)", "{",
            f"    uint8_t label = {p.upper()}_CLASSES; /* none of them */", "",
            f"    (void){p}_model_classify(&model, x, &label, 0);", "    return label;",
            "}"] if plan.decision else []


def _trainer_example(plan: Plan, x: str) -> list[str]:
    """Return example functions for a batch trainer with classes or several outputs."""
    p, y = plan.name, "labels" if plan.decision else "y"
    given = f"&trainer, &model, {'x, ' if x else ''}{y}"
    lines = [f"static {p}_trainer_t trainer;",
             f"static {p}_model_t model; /* {p}_model_init(&model) at the start */", "",
             f"int learn({x}const {p}_target_t *{y})", "{", f"    return KC_USABLE({p}_train({given}));", "}"]
    predict = ["", f"int predict(const {p}_in_t *x, {p}_out_t f[{p.upper()}_OUTPUTS])", "{",
               f"    return KC_USABLE({p}_model_predict(&model, x, f));", "}"]
    return lines + (_classify(plan) or predict)
