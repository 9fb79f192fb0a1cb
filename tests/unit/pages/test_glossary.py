"""The glossary has every status of a device."""

import re

from kerncast.benchmarks.figures import ROOT
from kerncast.sim.statuses import MEANINGS


def test_the_glossary_has_every_status():
    section = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").partition("## Statuses")[2]
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == set(MEANINGS)
