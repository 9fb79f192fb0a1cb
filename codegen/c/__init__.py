"""codegen.c: contexts for the C templates, and packages for build systems."""
