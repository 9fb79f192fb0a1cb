"""hw.hil: the hardware-in-the-loop link: frames, emulators, boards, and the host side of the agent."""
