"""codegen.build: compilers and their products: host libraries and WebAssembly modules."""
