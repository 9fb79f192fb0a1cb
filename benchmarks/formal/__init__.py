"""formal: check the shipped SystemVerilog by model checking.

``python -m kerncast.benchmarks.formal`` proves everything and writes ``docs/measured/formal.md``.
"""
