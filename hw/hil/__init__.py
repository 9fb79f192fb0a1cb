"""The hardware-in-the-loop link: frames, emulators, boards and the agent's host side."""
