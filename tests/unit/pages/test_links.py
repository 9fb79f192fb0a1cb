"""Every link of a document to a file or heading of the repository leads somewhere."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parents[3]
DOCUMENTS = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").glob("**/*.md"))]
_CODE = re.compile(r"^(```|~~~).*?^\1[^\n]*$|(`+)(?!`).+?(?<!`)\2(?!`)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"""\]\(\s*<?([^)\s>]+)          # [text](target), ![text](target)
                     | ^\s*\[[^\]]+\]:\s+<?([^\s>]+)  # [text]: target
                     | \b(?:href|src)=["']([^"']+)""", re.MULTILINE | re.VERBOSE)
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
_NAMED = re.compile(r"""<\w+\s[^>]*\b(?:id|name)=["']([^"']+)""")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)


def links(text: str) -> Iterator[str]:
    """Targets within the repository, in order; what stands in code is none."""
    for match in _LINK.finditer(_CODE.sub("", text)):
        target = next(group for group in match.groups() if group)
        if not _ELSEWHERE.match(target):
            yield unquote(target)


def anchors(text: str) -> set[str]:
    """What ``#`` may lead to: headings as GitHub and others name them, and names given in HTML."""
    found: set[str] = set(_NAMED.findall(text))
    for heading in _HEADING.findall(re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)  # a link shows its text
        slug = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        again = sum(1 for name in found if re.fullmatch(re.escape(slug) + r"(-\d+)?", name))
        found.add(f"{slug}-{again}" if again else slug)
    return found


def leads(document: Path, text: str, link: str) -> bool:
    """Whether the file is there, within the repository, and has what stands behind the #."""
    path, _, anchor = link.partition("#")
    target = (document.parent / path).resolve() if path else document
    if not target.is_relative_to(ROOT) or not target.exists():
        return False
    if not anchor or target.suffix != ".md":
        return True
    return anchor in anchors(target.read_text(encoding="utf-8") if path else text)


def broken(document: Path, text: str) -> list[str]:
    """Links that lead nowhere."""
    return [link for link in links(text) if not leads(document, text, link)]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_and_anchor_of_a_document_exists(document):
    assert broken(document, document.read_text(encoding="utf-8")) == []


def test_the_documents_link_to_each_other():
    assert len(list(links((ROOT / "README.md").read_text(encoding="utf-8")))) >= 5


def test_a_link_that_leads_nowhere_is_found():
    text = """# A heading, `coded`: and [linked](README.md)
## Twice
## Twice
<a id="here"></a> [1](#a-heading-coded-and-linked) [2](#twice) [3](#twice-1) [4](#here) [5](docs) `[0](none)`
[6](https://example.org/none.md#none) [7](README.md#none) ![8](none.png) [9](#twice-2) [10](../outside.md)
<img src="docs/none.svg"> [11]

[11]: none.md#twice
```
[0](none)
```
"""
    assert broken(ROOT / "README.md", text) == [
        "README.md#none", "none.png", "#twice-2", "../outside.md", "docs/none.svg", "none.md#twice"]
