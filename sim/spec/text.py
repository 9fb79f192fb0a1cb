"""sim.spec: the TOML text of a spec, with or without comments."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from ..choices import KERNEL_KEYS
from .keys import OVERRIDABLE, RANGED, READING_KEYS, TABLES, keys

Values = dict[str, dict[str, Any]]

_WIDTH = 30
#: Examples for keys that are empty by default.
_EXAMPLES = {"casts": '{ f = "floor" }', "ranges": "{ alpha = 2.5 }", "formats": '{ alpha = "s16f12" }',
             "test": '"test.csv"', "projection": '"fklms"', "metric": '"fklms"', "truncation": "0.001",
             "max_deterioration": "0.01", "max_age": "100000", "quantise": "0.8", "linear": '"rls"',
             "guard": "true", "bounded_update": "true", "linear_forgetting": "0.999",
             "linear_ridge": "0.001", "linear_step": "0.1",
             "joint": "false", "gate": "true",
             "last_errors": "6", "unit": '"mV"', "candidates": "[[6.0, 0.3]]",
             "stream_lag": "30", "lambda_range": "[0.01, 1.0]", "novelty": "1.0"}


def render(values: Values, commented: Sequence[str] = ()) -> str:
    """Return the TOML text of a spec with comments.

    Parameters
    ----------
    values : dict of str to dict
        The tables by name, each with its keys.
    commented : sequence of str
        Names of the tables to write as comments.
    """
    lines = ["# A spec of kerncast. Check it with: kerncast check FILE",
             "# A key behind a # is optional and shows its default, or an example."]
    for table, entries in values.items():
        off = "# " if table in commented else ""
        about = (TABLES[table].__doc__ or "").splitlines()[0].replace("``", "")
        lines += ["", f"# {about}", f"{off}[{table}]"]
        lines += [_line(table, key, f"{off}{key} = {toml(value)}") for key, value in entries.items()
                  if not isinstance(value, dict)]
        lines += [_line(table, key, f"# {key} = {text}") for key, text in _left(table, values).items()]
        for key, value in entries.items():
            if isinstance(value, dict):
                lines += ["", f"# {_about(table, key)}", f"{off}[{table}.{key}]",
                          *(f"{off}{_key(name)} = {toml(item)}" for name, item in value.items())]
    return "\n".join(lines) + "\n"


def bare(spec: BaseModel) -> str:
    """Return the TOML text of a spec, without keys that have their default values."""
    values = spec.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=True)
    tables = ("\n".join([f"[{table}]", *(f"{key} = {toml(value)}" for key, value in entries.items())])
              for table, entries in values.items())
    return "\n\n".join(tables) + "\n"


def toml(value: Any) -> str:
    """Convert a value to TOML on one line."""
    if isinstance(value, dict):
        inside = ", ".join(f"{json.dumps(key)} = {toml(item)}" for key, item in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _about(table: str, key: str) -> str:
    return TABLES[table].model_fields[keys(TABLES[table])[key]].description or ""


def _key(name: str) -> str:
    """Return the name of a key, in quotes if TOML requires them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _line(table: str, key: str, entry: str) -> str:
    return f"{entry:{_WIDTH - 1}} # {_about(table, key)}"


def _left(table: str, values: Values) -> dict[str, str]:
    """Return the keys of a table that `values` omits, with a default or an example."""
    algorithm = values["model"]["algorithm"]
    useless = {"builtin", "lagged", "delay", "step", *values[table], *KERNEL_KEYS["periodic"],
               *KERNEL_KEYS["polynomial"]}
    useless |= {"channels", "decimate", "classes", "outputs", "min_margin"}
    useless |= set() if "sigma" in values["kernel"] else {"exp_table"}
    useless |= set() if "linear" in values[table] else {"joint", "gate", "last_errors"}
    useless |= set() if values[table].get("linear") == "rls" else {"linear_forgetting", "linear_ridge"}
    useless |= set() if values[table].get("linear") == "nlms" else {"linear_step"}
    useless |= set() if "novelty" in values[table] else {"novelty_release", "novelty_steps", "drift_samples"}
    useless |= set() if values[table].get("solver") == "banded" else {"candidates", "factor", "lambda_range"}
    useless |= set() if values[table].get("scheme") == "uniform" else {"stream_lag"}
    useless |= set() if values[table].get("reduction") in ("fklms", "fmklms") else {
        "guard", "bounded_update"}
    useless |= set(READING_KEYS) if table == "data" else set()
    useless |= set() if OVERRIDABLE[algorithm] else {"formats"}
    useless |= set() if RANGED[algorithm] else {"ranges", "margin"}
    fields = {key: TABLES[table].model_fields[name] for key, name in keys(TABLES[table]).items()}
    return {key: _EXAMPLES.get(key) or json.dumps(field.default) for key, field in fields.items()
            if key not in useless}
