"""sim: the plan, which contains every decision for a spec.

The integer model, the code generators, the test vectors, the link to a board and the reports all use the
plan, which is immutable. The decisions are integers and strings, and the hash of a plan is that of the
decisions in canonical JSON. The evidence of a plan contains the reasons for the decisions, such as measured
ranges and bounds. It is stored with the decisions, but is not part of the hash.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from ._json import parse_json
from .choices import Choices
from .errors import KerncastError, fail
from .formats import Format, Overflow, Rounding

#: Raised whenever generated code and firmware runtime would no longer fit together.
ABI = 2
#: Of the plan's JSON; a plan of another version is not read.  kerncast 0.1 wrote version 1.
VERSION = 3

#: A name that cannot leave a folder or a C file; a spec allows fewer.
_NAME = re.compile("[a-z][a-z0-9_]*")

#: How to make a generated folder, and so its plan, again.
REMAKE_FOLDER = "generate the folder again: kerncast gen SPEC -o FOLDER"

#: The key of the spec for the number of vectors of a model, by algorithm.
SIZE_KEYS = {"toeplitz_rls": "[toeplitz] n", "kernel_cg": "[cg] n", "kernel_lms": "[online] budget",
             "online_kernel_rls": "[rls] features", "kernel_predictor": "[predictor] file"}

C_BYTES = {"int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4, "uint32_t": 4,
           "int64_t": 8, "uint64_t": 8, "float": 4}


def wire_dtype(ctype: str) -> str:
    """Return the little-endian NumPy dtype of a C type.

    The bits of a float are read as an integer.
    """
    return f"<{'i' if ctype.startswith('int') else 'u'}{C_BYTES[ctype]}"


@dataclass(frozen=True)
class Signal:
    """Format, cast and range of a signal.

    Parameters
    ----------
    format : Format
        Number format of the signal.
    rounding, overflow : Rounding, Overflow
        Modes of the cast to this signal.
    lo, hi : int
        Smallest and largest allowed integer, within the range of the format.
    unit : str
        Unit of the real value.
    """

    format: Format
    rounding: Rounding
    overflow: Overflow
    lo: int
    hi: int
    unit: str

    def as_dict(self) -> dict[str, Any]:
        """Return the signal as a dictionary for the canonical JSON of a plan."""
        return {"format": str(self.format), "rounding": self.rounding.name.lower(),
                "overflow": self.overflow.name.lower(), "lo": self.lo, "hi": self.hi,
                "unit": self.unit}

    @classmethod
    def from_dict(cls, d: Mapping[str, Any]) -> Signal:
        """Create a signal from a dictionary that :meth:`as_dict` returned."""
        return cls(Format.parse(d["format"]), Rounding[d["rounding"].upper()],
                   Overflow[d["overflow"].upper()], d["lo"], d["hi"], d["unit"])


@dataclass(frozen=True)
class ConstantTable:
    """Table of constant integers."""

    format: Format
    values: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """Return the size of the table in bytes, in read-only memory of the device."""
        return len(self.values) * self.format.c_bits // 8


@dataclass(frozen=True)
class Field:
    """Member of a structure on the device.

    `formula` is the number of elements as a formula in n, D and N, and `count` is its value.
    """

    name: str
    ctype: str
    formula: str
    count: int
    meaning: str

    @property
    def bytes(self) -> int:
        """Return the size of the member in bytes."""
        return self.count * C_BYTES[self.ctype]

    def as_dict(self) -> dict[str, Any]:
        """Return the canonical form."""
        return {"name": self.name, "ctype": self.ctype, "formula": self.formula, "count": self.count,
                "meaning": self.meaning}


@dataclass(frozen=True)
class Operations:
    """Number of operations of one kind per call.

    `formula` is a formula in n, D and N, and `count` is its value, which is the worst case.
    """

    formula: str
    count: int


def other_version(what: str, where: str, found: object, own: object, remedy: str) -> KerncastError:
    """Create the error E213, which rejects a file of another version of kerncast.

    `remedy` states how to create the file again.
    """
    return fail("E213", f"another version of kerncast wrote this {what}", where=where,
                value=f"version {found}", allowed=f"version {own}", remedy=remedy)


def _frozen(mapping: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(mapping))


@dataclass(frozen=True)
class Plan(Choices):
    """Decisions for one spec.

    Parameters
    ----------
    name : str
        Prefix of all C names and of the names of generated files.
    algorithm : str
        ``toeplitz_rls``, ``kernel_cg``, ``kernel_lms``, ``online_kernel_rls`` or ``kernel_predictor``.
    word : int
        Word length W in bits: 16, 24 or 32.
    options : mapping of str to str
        Options by name, as text: the kernel, the scheme or the reduction, and real parameters.
    sizes : mapping of str to int
        ``n`` is the number of training samples (batch trainers), ``N`` that of expansion vectors, ``D`` that
        of input columns; ``C`` is the number of outputs if there are several, and ``M`` is the number of
        coefficients per vector if it differs from C.
    signals : mapping of str to Signal
    constants : mapping of str to int or tuple of int
        Every integer constant of the device.
    tables : mapping of str to ConstantTable
        Constant tables of the device.
    memory : tuple of Field
        Members of the model structure, in order; on the device, the caller owns its memory.
    operations : mapping of str to mapping of str to Operations
        Worst-case operation counts of each call (``train``, ``update``, ``predict``).
    units : mapping of str to str
        The real value of one LSB of a signal, as an exact fraction ``p/q``.
    evidence : mapping
        The reason for each decision; not part of the hash.
    workspace : tuple of Field
        Members of the trainer structure of a batch trainer, in order; only training needs them.
    """

    name: str
    algorithm: str
    word: int
    options: Mapping[str, str]
    sizes: Mapping[str, int]
    signals: Mapping[str, Signal]
    constants: Mapping[str, int | tuple[int, ...]]
    tables: Mapping[str, ConstantTable]
    memory: tuple[Field, ...]
    operations: Mapping[str, Mapping[str, Operations]]
    units: Mapping[str, str]
    evidence: Mapping[str, Any] = field(default_factory=dict, compare=False)
    workspace: tuple[Field, ...] = ()

    def __post_init__(self) -> None:
        for name in ("options", "sizes", "signals", "constants", "tables", "operations", "units",
                     "evidence"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))

    def __repr__(self) -> str:
        sizes = ", ".join(f"{key} = {size:,}" for key, size in self.sizes.items())
        return (f"Plan: {self.name}, {self.algorithm}, {self.word} bits, {sizes}\n"
                f"  {len(self.signals)} signals, {self.ram_bytes:,} bytes of RAM, "
                f"{self.table_bytes:,} of tables\n  hash {self.hash}")

    def integer(self, name: str) -> int:
        """Return the value of a scalar constant."""
        value = self.constants[name]
        assert isinstance(value, int)
        return value

    def integers(self, name: str) -> tuple[int, ...]:
        """Return the values of a constant that has one entry per column."""
        value = self.constants[name]
        assert isinstance(value, tuple)
        return value

    @property
    def y_unit(self) -> str:
        """Return the unit of y from the spec, or ``units of y`` if the spec has none."""
        return str(self.evidence.get("unit", {}).get("y", "units of y"))

    @property
    def x_units(self) -> tuple[str, ...]:
        """Return the units of x from the spec: none, one, or one per column."""
        named = self.evidence.get("unit", {}).get("x", ())
        return (named,) if isinstance(named, str) else tuple(named)

    def unit_of(self, name: str) -> str:
        """Return the unit of a signal, in terms of the units of x and y in the spec."""
        unit = self.signals[name].unit.replace("y units", self.y_unit.replace("units of y", "y units"))
        return unit.replace("x units", self.x_units[0]) if len(self.x_units) == 1 else unit

    @property
    def trains(self) -> bool:
        """Return whether the plan is for a batch trainer."""
        return self.algorithm in ("toeplitz_rls", "kernel_cg")

    @property
    def learns(self) -> bool:
        """Return whether the plan is for an online learner."""
        return self.algorithm in ("kernel_lms", "online_kernel_rls")

    @property
    def update_name(self) -> str:
        """Return the name of the C function that learns a sample, without the prefix."""
        return "rls_update" if self.second_order else "lms_update"

    @property
    def second_order(self) -> bool:
        """Return whether the learner is recursive least squares with random features."""
        return self.algorithm == "online_kernel_rls"

    @property
    def fixed(self) -> bool:
        """Return whether the model was trained elsewhere, so that it has no state."""
        return self.algorithm == "kernel_predictor"

    @property
    def fits(self) -> bool:
        """Return whether the trainer can return the fitted values of the training samples."""
        return "fitted_scale" in self.constants

    @property
    def stream_taps(self) -> int:
        """Return the taps of the filter of a stream, 2 L + 1; 0 without one."""
        return 2 * self.integer("stream_lag") + 1 if "stream_lag" in self.constants else 0

    @property
    def stream_bytes(self) -> int:
        """Return the bytes of the structure of a stream, 0 without one.

        A stream stores each sample twice.
        """
        return 2 * self.stream_taps * C_BYTES[self.word_type] + 4 if self.stream_taps else 0

    @property
    def outputs(self) -> int:
        """Return the number of values that one prediction returns (C)."""
        return self.sizes.get("C", 1)

    @property
    def targets(self) -> int:
        """Return the number of targets per sample; the label of a class is one target."""
        return 1 if self.decision else self.outputs

    @property
    def size_key(self) -> str:
        """Return the key of the spec that sets the number of vectors of the model."""
        return SIZE_KEYS[self.algorithm]

    @property
    def word_type(self) -> str:
        """Return the C type that stores a value of the word length."""
        return Format(True, self.word, 0).c_type

    @property
    def state_bytes(self) -> int:
        """Return the size of the model structure in bytes."""
        return sum(f.bytes for f in self.memory)

    @property
    def trainer_bytes(self) -> int:
        """Return the size of the trainer structure in bytes; 0 if there is none."""
        return sum(f.bytes for f in self.workspace)

    @property
    def delay_bytes(self) -> int:
        """Return the size of the delay line in bytes; 0 if there is none.

        The delay line stores each sample twice. If it decimates, it also stores the sum of the readings of
        each channel, and their number.
        """
        if not self.delay:
            return 0
        bits = self.signals["x_raw"].format.c_bits
        line = 2 * self.sizes["D"] * bits // 8 + 4
        return line if self.decimate == 1 else line + 4 + self.channels * (8 if bits > 16 else 4)

    @property
    def ram_bytes(self) -> int:
        """Return the size of one model and its trainer in RAM, in bytes."""
        return self.state_bytes + self.trainer_bytes

    @property
    def table_bytes(self) -> int:
        """Return the size of the constant tables in bytes."""
        return sum(t.bytes for t in self.tables.values())

    def decisions(self) -> dict[str, Any]:
        """Return all decisions, which the hash covers, as integers and strings."""
        return {
            "version": VERSION, "name": self.name, "algorithm": self.algorithm,
            "word": self.word, "options": dict(self.options), "sizes": dict(self.sizes),
            "signals": {k: s.as_dict() for k, s in self.signals.items()},
            "constants": {k: list(v) if isinstance(v, tuple) else v
                          for k, v in self.constants.items()},
            "tables": {k: {"format": str(t.format), "values": list(t.values)}
                       for k, t in self.tables.items()},
            "memory": [f.as_dict() for f in self.memory],
            "workspace": [f.as_dict() for f in self.workspace],
            "units": dict(self.units),
        }

    @cached_property
    def hash(self) -> str:
        """Return the SHA-256 of the decisions in canonical JSON, in hexadecimal."""
        text = json.dumps(self.decisions(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def to_json(self) -> str:
        """Return the decisions, their hash and the evidence as indented JSON."""
        operations = {call: {k: {"formula": o.formula, "count": o.count} for k, o in counts.items()}
                      for call, counts in self.operations.items()}
        return json.dumps({"hash": self.hash, "decisions": self.decisions(), "operations": operations,
                           "evidence": dict(self.evidence)}, indent=1, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, text: str, where: str = "plan.json") -> Plan:
        """Parse the text of :meth:`to_json`.

        Raise E210 if it is damaged, and E213 if it was written by another version of kerncast.
        """
        try:
            whole = parse_json(text)
            d = whole["decisions"]
            version = d.get("version", d.get("schema"))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _not_a_plan(where, error) from None
        if version != VERSION and isinstance(version, int):
            raise other_version("plan", where, version, VERSION, REMAKE_FOLDER)
        try:
            plan = cls(
                d["name"], d["algorithm"], d["word"], d["options"], d["sizes"],
                {k: Signal.from_dict(s) for k, s in d["signals"].items()},
                {k: tuple(v) if isinstance(v, list) else v for k, v in d["constants"].items()},
                {k: ConstantTable(Format.parse(t["format"]), tuple(t["values"]))
                 for k, t in d["tables"].items()},
                tuple(Field(**f) for f in d["memory"]),
                {call: {k: Operations(**o) for k, o in counts.items()}
                 for call, counts in whole["operations"].items()},
                d["units"], whole["evidence"], tuple(Field(**f) for f in d["workspace"]))
            found = (d["version"], whole["hash"])
            if not _NAME.fullmatch(plan.name):  # it is part of the names of files, and of C
                raise ValueError(f"name {plan.name!r}")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _not_a_plan(where, error) from None
        if found != (VERSION, plan.hash):
            raise fail("E210", "the plan was edited", where=where, value=f"version, hash {found}",
                       allowed=f"{(VERSION, plan.hash)}", remedy=REMAKE_FOLDER)
        return plan


def _not_a_plan(where: str, error: Exception) -> KerncastError:
    return fail("E210", "this is not a plan", where=where, value=repr(error), allowed="a generated plan.json",
                remedy=REMAKE_FOLDER)
