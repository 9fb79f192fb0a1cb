"""hw.hil: hardware in the loop: protocol, emulators, boards and client."""
