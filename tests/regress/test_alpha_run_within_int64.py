"""The wide multipliers of a run that measures their range overflowed the product with kappa at 16 bits."""

from kerncast.sim.formats import Format
from kerncast.sim.planner.online.metric import WEIGHTED, _shifts
from kerncast.sim.planner.words import WORD_CLASSES


def test_the_largest_loss_fits_whatever_the_bits_of_alpha():
    for words in WORD_CLASSES.values():
        for bits in (words.bits, 32):
            for metric in WEIGHTED:
                found = _shifts(words, metric, 65535, Format(True, bits, bits - 9))
                loss = 4 ** (bits - 1) * (found["kappa_one"] >> found["kappa_shift"]) >> found["metric_shift"]
                assert loss <= 1 << 62
