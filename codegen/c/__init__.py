"""codegen.c: what the C templates see of a plan, and the packages around the library."""
