"""formal: verify the SystemVerilog modules by model checking.

``python -m kerncast.benchmarks.formal`` proves all claims, and writes ``docs/measured/formal.md``.
"""
