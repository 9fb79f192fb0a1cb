"""codegen.c: contexts for the C templates, and packages around the library."""
