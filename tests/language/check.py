"""Report listed phrases and long summaries in all texts: ``python tests/language/check.py``.

Without arguments the folders under `enforced` are checked, and a phrase found there fails, or a docstring
whose first line is too long. Paths as arguments are checked instead, enforced or not; ``--count`` prints how
many findings each file contains.
"""

import argparse
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from texts import Text, prose, texts

LIST = Path(__file__).with_name("phrases.toml")
#: Longest first line of a docstring.
SUMMARY = 80


class Phrase(NamedTuple):
    """One row of the list: what is looked for, what to say instead, and the sentences excepted."""

    pattern: re.Pattern[str]
    say: str
    kinds: frozenset[str]
    allowed: tuple[re.Pattern[str], ...]


class Finding(NamedTuple):
    """One phrase in one text."""

    path: str
    line: int
    found: str
    say: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.found!r}: write {self.say}"


def loose(words: str) -> str:
    """Return a pattern whose blanks match line ends too."""
    return words.replace(" ", r"\s+")


def phrases(table: dict[str, object]) -> list[Phrase]:
    """Compile the rows of phrases.toml."""
    rows = []
    for row in table["phrase"]:
        every = "|".join(f"(?:{loose(words)})" for words in row["not"])
        rows.append(Phrase(re.compile(rf"\b(?:{every})(?!\w)", re.IGNORECASE), row["say"],
                           frozenset(row.get("only", ())),
                           tuple(re.compile(loose(re.escape(words).replace(r"\ ", " ")))
                                 for words in row.get("except", ()))))
    return rows


def any_of(rows: list[Phrase]) -> re.Pattern[str]:
    """Compile one pattern of all phrases: most texts hold none, and one search is faster than fifty."""
    return re.compile("|".join(row.pattern.pattern for row in rows), re.IGNORECASE)


def findings(text: Text, rows: list[Phrase], any_row: re.Pattern[str]) -> Iterator[Finding]:
    """Yield each phrase of the list that a text holds outside the sentences excepted."""
    words = prose(text)
    if not any_row.search(words):
        return
    for row in rows:
        if row.kinds and text.kind not in row.kinds:
            continue
        for hit in row.pattern.finditer(words):
            spans = (allowed.span() for pattern in row.allowed for allowed in pattern.finditer(words))
            if not any(begin <= hit.start() and hit.end() <= end for begin, end in spans):
                yield Finding(text.path, text.line + words.count("\n", 0, hit.start()),
                              " ".join(hit[0].split()), row.say)


def long_summary(text: Text) -> Iterator[Finding]:
    """Yield a docstring's first line that is longer than SUMMARY characters."""
    first = text.words.strip().split("\n")[0]
    if text.kind == "docstring" and len(first) > SUMMARY:
        yield Finding(text.path, text.line, f"{first[:40]}...",
                      f"at most {SUMMARY} characters, not {len(first)}")


def under(path: str, folders: list[str]) -> bool:
    """Whether a path is one of these or below one of them."""
    return any(folder == "." or path == folder or path.startswith(f"{folder.rstrip('/')}/")
               for folder in folders)


def main() -> int:
    """Check the texts; 1 if a phrase is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", help="check these files and folders instead of the enforced ones")
    parser.add_argument("--kind", help="page, docstring, message or comment only")
    parser.add_argument("--count", action="store_true", help="print the count of each file only")
    args = parser.parse_args()
    table = tomllib.loads(LIST.read_text(encoding="utf-8"))
    rows = phrases(table)
    any_row = any_of(rows)
    everywhere = args.count and not args.paths
    wanted = {kind: args.paths or (["."] if everywhere else folders)
              for kind, folders in table["enforced"].items() if args.kind in (None, kind)}
    summaries = wanted.pop("summary", [])
    every = list(texts())
    found = [finding for text in every if under(text.path, wanted.get(text.kind, []))
             for finding in findings(text, rows, any_row)]
    found += [finding for text in every if under(text.path, summaries) for finding in long_summary(text)]
    if args.count:
        for path, count in Counter(finding.path for finding in found).most_common():
            print(f"{count:6d}  {path}")
    else:
        print(*found, sep="\n", end="\n" if found else "")
    if found:
        print(f"{len(found)} texts to correct; tests/language/phrases.toml lists the phrases",
              file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
