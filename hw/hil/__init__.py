"""hw.hil: the hardware-in-the-loop link: frames, emulators, boards and client."""
