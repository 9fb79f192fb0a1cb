"""proofs: parse the runtime headers to a syntax tree.

The headers use the preprocessor only for include guards, includes and integer macros. Therefore, a simple
preprocessing step is sufficient, and the proofs use the text of the headers without those of a compiler. All
other directives are rejected.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from pycparser import c_ast, c_generator, c_parser

RUNTIME = Path(__file__).resolve().parents[2] / "firmware" / "rt"
UMBRELLA = "kc_rt.h"

STDINT = tuple(f"{sign}int{bits}_t" for bits in (8, 16, 32, 64) for sign in ("", "u"))
# Names for the parser only: `c_types` defines the meaning of a type.
TYPEDEFS = "".join(f"typedef int {name};\n" for name in STDINT)


class Refused(Exception):
    """Exception for C that this prover does not support."""


@dataclass(frozen=True)
class Program:
    """Functions of the runtime headers by name."""

    functions: dict[str, c_ast.FuncDef]

    def digest(self) -> str:
        """Return the SHA-256 of the functions in a normalised layout.

        Comments and white space do not affect it.
        """
        write = c_generator.CGenerator().visit
        text = "".join(write(self.functions[name]) for name in sorted(self.functions))
        return hashlib.sha256(text.encode()).hexdigest()

#: Headers of solvers, saved states, trace hooks, of what compilers offer and where tables lie: no
#: primitives.
OTHERS = ("kc_band.h", "kc_bits_clz.h", "kc_compiler.h", "kc_crc.h", "kc_f32.h", "kc_gram_f32.h",
          "kc_lookahead.h", "kc_lookahead_correct.h", "kc_lookahead_vectors.h", "kc_lookahead_f32.h",
          "kc_lookahead_f32_correct.h", "kc_outputs.h", "kc_outputs_dsp.h", "kc_real.h", "kc_rls.h",
          "kc_rls_dsp.h", "kc_rotate.h",
          "kc_rows.h", "kc_rows_dsp.h", "kc_i32.h", "kc_simd.h", "kc_simd_dsp.h", "kc_simd_dsp_8.h",
          "kc_simd_dspr2.h",
          "kc_simd_helium.h", "kc_simd_hvx.h", "kc_simd_q6.h", "kc_state.h", "kc_storage.h", "kc_table.h",
          "kc_trace.h")


def header_texts() -> dict[str, str]:
    """Return the texts of the headers that contain functions, in dependency order."""
    texts: dict[str, str] = {}

    def add(name: str) -> None:
        if name in texts or name in OTHERS:
            return
        text = (RUNTIME / name).read_text(encoding="utf-8")
        for included in re.findall(r'^#include "([^"]+)"', text, re.MULTILINE):
            add(included)
        if name != UMBRELLA:
            texts[name] = text

    add(UMBRELLA)
    unread = {path.name for path in RUNTIME.glob("*.h")} - {*texts, UMBRELLA, *OTHERS}
    if unread:
        raise Refused(f"{UMBRELLA} does not include {', '.join(sorted(unread))}")
    return texts


def _preprocessed(name: str, text: str, macros: dict[str, str]) -> str:
    """Remove the directives of a header, and expand integer macros.

    Line numbers do not change.
    """
    kept = []
    for line in text.split("\n"):
        if not line.startswith("#"):
            kept.append(re.sub(r"\bKC_[A-Z0-9_]+\b", lambda found: macros[found.group()], line))
            continue
        kept.append("")
        if found := re.fullmatch(r"#define (KC_\w+) (\d+)", line):
            macros[found.group(1)] = found.group(2)
        elif not re.match(r"#(include |ifndef KERNCAST_\w+_H$|define KERNCAST_\w+_H$|endif$)", line):
            raise Refused(f"{name}: directive {line!r}")
    body = "\n".join(kept)
    for macro, suffix in (("UINT32_C", "LU"), ("INT64_C", "LL"), ("UINT64_C", "ULL")):
        body = re.sub(rf"\b{macro}\((\w+)\)", rf"\1{suffix}", body)
    return body


def _without_comments(text: str) -> str:
    """Remove the comments of a C text, but keep line ends."""
    return re.sub(r"/\*.*?\*/", lambda found: re.sub(r"[^\n]", " ", found.group()), text, flags=re.DOTALL)


def parse(texts: dict[str, str] | None = None) -> Program:
    """Parse headers to functions; by default, the headers of kerncast's runtime."""
    macros = {"KC_TABLE": "const"}
    functions: dict[str, c_ast.FuncDef] = {}
    for name, text in (header_texts() if texts is None else texts).items():
        body = _preprocessed(name, _without_comments(text), macros)
        unit = c_parser.CParser().parse(f'{TYPEDEFS}# 1 "{name}"\n{body}', name)
        for node in unit.ext:
            if isinstance(node, c_ast.FuncDef):
                functions[node.decl.name] = node
            elif not isinstance(node, c_ast.Typedef):
                raise Refused(f"{node.coord}: neither function nor typedef")
    return Program(functions)
