"""benchmarks.peers: vectorised FKLMS with APyTypes, bit-exact with kerncast."""

from __future__ import annotations

import numpy as np
from apytypes import APyFixed, APyFixedArray, OverflowMode, QuantizationMode
from numpy.typing import NDArray

from kerncast.sim._arrays import Words
from kerncast.sim.formats import Format, Rounding
from kerncast.sim.plan import Plan

MODES = {Rounding.FLOOR: QuantizationMode.TO_NEG, Rounding.HALF_UP: QuantizationMode.TIES_POS,
         Rounding.HALF_EVEN: QuantizationMode.TIES_EVEN}
FLOOR = QuantizationMode.TO_NEG
SATURATE = OverflowMode.SAT
OK, SATURATED = 0, 2
#: ln 2 as u32f32.
LN2 = 0xB17217F8
#: More bits than any sum here needs.
WIDE = 80


def signed(words: NDArray[np.uint64], bits: int) -> Words:
    """Convert unsigned values of `bits` bits to signed values (two's complement)."""
    low: Words = words.astype(np.int64)
    return np.where(low >> (bits - 1) & 1, low - (1 << bits), low)


def words_of(numbers: APyFixedArray) -> Words:
    """Return the stored integers of an APyTypes array with up to 62 bits."""
    return signed(numbers.to_bits(numpy=True), numbers.bits)


def word_of(number: APyFixed) -> int:
    """Return the stored integer of an APyTypes number."""
    bits: int = number.to_bits()
    return bits - (1 << number.bits) if bits >> (number.bits - 1) else bits


def array(words: Words, fmt: Format) -> APyFixedArray:
    """Return integers as an APyTypes array; an unsigned format gets a sign bit."""
    return APyFixedArray(words, bits=fmt.bits + (not fmt.signed), frac_bits=fmt.frac)


class ApyKernel:
    """Squared distances, and Gaussian kernel values with 32 bits."""

    def __init__(self, plan: Plan) -> None:
        shift = plan.integer("kernel_shift") + 32
        self._c = APyFixedArray([plan.integer("kernel_c")], bits=32, frac_bits=shift)
        self._end = plan.integer("kernel_d2_end")
        self._coarse, self._fine = (np.array(plan.tables[f"exp2_{part}"].values, dtype=np.int64)
                                    for part in ("coarse", "fine"))
        assert plan.integer("exp2_bits") == 8
        self._ln2 = APyFixedArray([LN2], bits=33, frac_bits=32)
        self._one = APyFixedArray([1], bits=2, frac_bits=0)
        self._powers = np.array([1 << (33 - whole) for whole in range(34)], dtype=np.int64)

    def distances(self, v: APyFixedArray, x: APyFixedArray) -> APyFixedArray:
        """Return the exact squared distances (m,) from v (m, D) to x (D,)."""
        difference = v - x
        return (difference * difference).sum(1)

    def values(self, d2: APyFixedArray, words: Words) -> APyFixedArray:
        """Return the kernel values (m,), in s33f31, for squared distances.

        The distances are passed both as an APyTypes array and as integers.
        """
        t = words_of((d2 * self._c).cast(bits=62, frac_bits=32, quantization=FLOOR))
        tail = APyFixedArray(t & 0xFFFF, bits=17, frac_bits=32) * self._ln2
        tail = tail.cast(bits=25, frac_bits=38, quantization=FLOOR)
        step = APyFixedArray(self._fine[t >> 16 & 0xFF], bits=31, frac_bits=38)
        product = (step * tail).cast(bits=31, frac_bits=38, quantization=FLOOR)
        fall = (step + tail - product).cast(bits=31, frac_bits=38)
        head = APyFixedArray(self._coarse[t >> 24 & 0xFF], bits=33, frac_bits=32)
        lost = (fall + (head * fall).cast(bits=32, frac_bits=38, quantization=FLOOR))
        value = head + self._one - lost.cast(bits=33, frac_bits=32, quantization=FLOOR)
        near = words < self._end
        power = np.where(near, self._powers[np.where(near, t >> 32, 0)], 0)
        halved = value * APyFixedArray(power, bits=35, frac_bits=34)
        return halved.cast(bits=33, frac_bits=31, quantization=QuantizationMode.TIES_POS)


class ApyFklms:
    """FKLMS learner for plans in which ADC counts need no conversion.

    The offset must be 0, and the gain of x must be 1.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan, self.kernel = plan, ApyKernel(plan)
        self.budget, columns = plan.sizes["N"], plan.sizes["D"]
        self.y, self.f, self.alpha = (plan.signals[s].format for s in ("y", "f", "alpha"))
        x = plan.signals["x"]
        self.x = Format(True, max(-x.lo - 1, x.hi).bit_length() + 1, 0)  # the bits that x can fill
        self.mode = MODES[plan.signals["alpha"].rounding]
        eta_frac = plan.integer("eta_shift") + self.alpha.frac - self.y.frac
        self.eta = APyFixed(plan.integer("eta"), bits=64, frac_bits=eta_frac)
        self.kept = self.alpha.frac + 31 - plan.integer("mac_shift")
        assert plan.integer("decay") == 0 and plan.word == 32
        self.v = array(np.zeros((self.budget, columns), dtype=np.int64), self.x)
        self.a = array(np.zeros(self.budget, dtype=np.int64), self.alpha)
        self.dist, self.elder, self.rank = (np.zeros(self.budget, dtype=np.int64) for _ in range(3))
        self.count = 0

    def update(self, x_raw: Words, y_raw: Words) -> tuple[Words, Words]:
        """Learn samples (m, D) and targets (m,) in order; return predictions and statuses."""
        y_all = y_raw * self.plan.integer("y_gain") >> self.plan.integer("y_shift")
        answers = [self._learn(APyFixedArray(x, bits=self.x.bits, frac_bits=0), int(y))
                   for x, y in zip(x_raw, y_all, strict=True)]
        f, status = zip(*answers, strict=True)
        return np.array(f), np.array(status)

    def _learn(self, x: APyFixedArray, y: int) -> tuple[int, int]:
        held, saturated, f = self.count, False, APyFixed(0, bits=self.f.bits, frac_bits=self.f.frac)
        slot, twin, row = held, -1, np.zeros(0, dtype=np.int64)
        if held:
            d2 = self.kernel.distances(self.v[:held], x)
            row = words_of(d2)
            twins = np.flatnonzero(row == 0)
            twin = int(twins[-1]) if len(twins) else -1
            if twin < 0 and held == self.budget:
                slot = self._closest()
                saturated = self._project(slot)
                self._remove(slot)
                self.a[slot] = APyFixed(0, bits=self.alpha.bits, frac_bits=self.alpha.frac)
            products = self.a[:held] * self.kernel.values(d2, row)
            kept = products.cast(bits=WIDE, frac_bits=self.kept, quantization=FLOOR).sum()
            whole = kept.cast(bits=WIDE, frac_bits=self.f.frac, quantization=self.mode)
            f = whole.cast(bits=self.f.bits, frac_bits=self.f.frac, overflow=SATURATE)
            saturated |= f != whole
        error = APyFixed(y % 2**self.y.bits, bits=self.y.bits, frac_bits=self.y.frac) - f
        step = (error * self.eta).cast(bits=WIDE, frac_bits=self.alpha.frac, quantization=self.mode)
        before = step if twin < 0 else step + self.a[twin]
        word = before.cast(bits=self.alpha.bits, frac_bits=self.alpha.frac, overflow=SATURATE)
        saturated |= word != before
        if twin >= 0:
            self.a[twin] = word
        else:
            self._insert(slot, x, word, row)
        return word_of(f), SATURATED if saturated else OK

    def _closest(self) -> int:
        """Return the slot nearest to an older slot; in a tie, the newest one (17)."""
        dist = np.where(self.rank == 0, np.iinfo(np.int64).max, self.dist)
        return int(np.argmax(np.where(dist == dist.min(), self.rank, -1)))

    def _project(self, slot: int) -> bool:
        """Project the removed vector onto the others; report whether a value saturates.

        According to (16), alpha_slot k(v_j, v_slot) is added to each other alpha_j.
        """
        d2 = self.kernel.distances(self.v, self.v[slot])
        k = self.kernel.values(d2, words_of(d2))
        moved = (k * self.a[slot]).cast(bits=WIDE, frac_bits=self.alpha.frac, quantization=self.mode)
        moved[slot] = APyFixed(0, bits=WIDE, frac_bits=self.alpha.frac)
        whole = self.a + moved
        self.a = whole.cast(bits=self.alpha.bits, frac_bits=self.alpha.frac, overflow=SATURATE)
        return not np.all(self.a == whole)

    def _remove(self, slot: int) -> None:
        """Remove a slot from the age order, and update the nearest neighbours."""
        later = self.rank > self.rank[slot]
        for j in np.flatnonzero(later & (self.elder == slot)):
            row = words_of(self.kernel.distances(self.v, self.v[int(j)]))
            elders = self.rank < self.rank[j]
            elders[slot] = False
            self.elder[j] = self._nearest(row, elders)
            self.dist[j] = row[self.elder[j]]
        self.rank[later] -= 1

    def _nearest(self, row: Words, among: NDArray[np.bool_]) -> int:
        """Return the slot in `among` with the smallest distance; in a tie, the oldest."""
        d2 = np.where(among, row, np.iinfo(np.int64).max)
        return int(np.argmin(np.where(d2 == d2.min(), self.rank, np.iinfo(np.int64).max)))

    def _insert(self, slot: int, x: APyFixedArray, alpha: APyFixed, row: Words) -> None:
        self.count = min(self.count + 1, self.budget)
        self.v[slot], self.a[slot] = x, alpha
        self.rank[slot], self.elder[slot], self.dist[slot] = self.count - 1, 0, 0
        if self.count > 1:
            others = np.arange(self.budget) < self.count
            others[slot] = False
            row = np.resize(row, self.budget)
            self.elder[slot] = self._nearest(row, others)
            self.dist[slot] = row[self.elder[slot]]
