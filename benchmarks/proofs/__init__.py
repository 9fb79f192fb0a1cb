"""proofs: the C primitives that ship, proved equal to their written definitions by z3.

``python -m kerncast.benchmarks.proofs`` proves everything and writes ``docs/measured/primitives.md``.
"""
