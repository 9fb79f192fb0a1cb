"""proofs: prove with z3 that the shipped C primitives equal their definitions.

``python -m kerncast.benchmarks.proofs`` proves everything and writes ``docs/measured/primitives.md``.
"""
