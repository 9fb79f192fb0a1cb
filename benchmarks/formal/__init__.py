"""formal: the SystemVerilog that ships, held to definitions and to the rules of streams by model checking.

``python -m kerncast.benchmarks.formal`` proves everything and writes ``docs/measured/formal.md``.
"""
