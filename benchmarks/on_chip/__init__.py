"""Compare on-chip learners on streams by error, instructions and memory."""
