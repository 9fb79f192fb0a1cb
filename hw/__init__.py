"""hw: run generated code on machines: emulators, boards, RTL simulation."""
