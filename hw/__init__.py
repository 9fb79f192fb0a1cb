"""hw: where generated code meets a machine: emulators, boards, RTL simulation."""
