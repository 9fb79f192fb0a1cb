"""Print texts drawn at random for a reader to judge: ``python tests/language/sample.py --seed S``.

Sixty sentences of README and docs, sixty docstrings (their first paragraph) and sixty messages, each with
its place. The same seed draws the same texts from the same sources.
"""

import argparse
import random
import re
from collections.abc import Iterator

from texts import Text, texts

PAGES = ("README.md", "docs/")
#: A full stop ends a sentence, unless it follows an initial or one of these abbreviations.
ABBREVIATIONS = ("Trans", "Proc", "Vol", "vol", "pp", "vs", "al", "e.g", "i.e", "etc")
END = re.compile(r"(?<=[.?!])(?<!\b[A-Z]\.)"
                 + "".join(rf"(?<!\b{re.escape(word)}\.)" for word in ABBREVIATIONS) + r"\s+(?=\S)")
WHOLE = re.compile(r"[.?!:][)*\"]*(?: <!--.*)?$")


def sentences(text: Text) -> Iterator[str]:
    """Yield the sentences of a paragraph, without table rows, headings, code and unfinished list items."""
    words = " ".join(text.words.split())
    if re.match(r"[|#<!]|```", words) or re.match(r" {4,}(?![-*] |\d+\. )", text.words):
        return
    words = re.sub(r"^(?:[-*]|\d+\.) ", "", words)
    for sentence in END.split(words):
        plain = re.sub(r"`[^`]*`", "", sentence)
        if WHOLE.search(sentence) and len(re.findall(r"[A-Za-z]{2,}", plain)) >= 4:
            yield sentence


def is_message(words: str) -> bool:
    """Whether a text of a program is a sentence or a part of one, not a format or a pattern."""
    plain = re.sub(r"\{[^{}]*\}", "", words)
    code = re.search(r"\\[a-z(]|=>|;\s*$|^\s*[<#/]", plain)
    return len(re.findall(r"\b[a-z]{2,}\b", plain)) >= 4 and not code


def main() -> None:
    """Draw and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--number", type=int, default=60, help="texts of each kind")
    args = parser.parse_args()
    drawn: dict[str, list[str]] = {"sentences": [], "docstrings": [], "messages": []}
    for text in texts():
        place = f"{text.path}:{text.line}: "
        if text.kind == "page" and text.path.startswith(PAGES):
            drawn["sentences"] += [place + sentence for sentence in sentences(text)]
        elif text.kind == "docstring":
            drawn["docstrings"].append(place + " ".join(text.words.strip().split("\n\n")[0].split()))
        elif text.kind == "message" and not text.path.startswith("benchmarks/") and is_message(text.words):
            drawn["messages"].append(place + " ".join(text.words.split()))
    print(f"seed {args.seed}")
    for kind, every in drawn.items():
        print(f"\n{kind}: {min(args.number, len(every))} of {len(every)}")
        for i, words in enumerate(random.Random(args.seed).sample(every, min(args.number, len(every))), 1):
            print(f"{i:3d}  {words}")


if __name__ == "__main__":
    main()
