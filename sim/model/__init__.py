"""The integer models: what the device computes, word for word, in Python."""
