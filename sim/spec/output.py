"""sim.spec: the table of the target."""

from __future__ import annotations

from ..choices import MOST_CLASSES
from ..formats import Format
from .fields import POSITIVE, WORD, SpecTable
from .fields import key as _key
from .types import UNIT_LENGTH, ClassNames, RawWord, Unit

#: What a unit may be; it changes texts, and no decision of the plan.
UNITS = f"1 to {UNIT_LENGTH} letters, digits, inner spaces and % ° / ^ . · + - ⁻ ( ), without //"
#: Format of scores by default, which are trained to -1 and 1, and of the index of a class.
SCORES, LABEL = "s2f0", Format(False, 8, 0)


class Output(SpecTable):
    """ADC counts of the target: ``y = gain * (raw - offset) * 2^-frac``."""

    word: RawWord | None = _key(None, about="format of an ADC count of the target, or of class scores",
                              **WORD)
    offset: int = _key(0, about="ADC count of y = 0", allowed="an integer",
                       remedy="give an ADC count, which is an integer")
    gain: float = _key(1.0, about="y = gain * (raw - offset) * 2^-frac", **POSITIVE,
                       remedy="give the value of one ADC count")
    unit: Unit | None = _key(None, about="unit of y, such as \"mV\", for headers, pages and plots",
                             allowed=UNITS, remedy="write it as in a label, such as \"mV\" or \"m/s^2\"")
    classes: ClassNames | None = _key(
        None, about="names of the classes; the target is then one of them",
        allowed=f"a list of 2 to {MOST_CLASSES} different names, such as [\"idle\", \"walk\", \"run\"]",
        remedy="list every class that the target can have")
    outputs: int | None = _key(None, ge=1, le=MOST_CLASSES,
                               about="number of values per prediction (C); default 1",
                               allowed=f"an integer, 1 to {MOST_CLASSES}",
                               remedy="omit it for one value, or for classes")
    min_margin: float | None = _key(
        None, about="for classes: below this margin, in units of y, the label is unknown", **POSITIVE,
        remedy="omit it: every sample then gets a class")

    @property
    def scores(self) -> Format:
        """Return the format whose range is the full scale of y.

        The format is that of the ADC counts, or of the scores of classes.
        """
        return Format.parse(self.word or SCORES)

    @property
    def targets(self) -> int:
        """Return the number of target values per sample; a class is one value."""
        return self.outputs or 1

    @property
    def format(self) -> Format:
        """Return the format of a target before conversion.

        A target is an ADC count, or the index of a class.
        """
        return self.scores if self.classes is None else LABEL
