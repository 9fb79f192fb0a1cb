"""hw: run generated code on emulators, boards and in RTL simulation."""
