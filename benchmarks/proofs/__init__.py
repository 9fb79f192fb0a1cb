"""proofs: prove with z3 that the C primitives are equal to their definitions.

``python -m kerncast.benchmarks.proofs`` proves all claims, and writes ``docs/measured/primitives.md``.
"""
