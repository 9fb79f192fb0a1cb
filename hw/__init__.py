"""hw: run generated code on emulators and boards, and in RTL and HLS simulation."""
