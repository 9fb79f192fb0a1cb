"""Compare on-chip learners of streams by error, instructions and memory."""
