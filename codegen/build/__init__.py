"""codegen.build: compilers, host libraries and WebAssembly modules."""
