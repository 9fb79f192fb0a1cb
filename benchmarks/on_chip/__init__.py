"""Compare learners of streams on a chip: error, instructions, memory."""
