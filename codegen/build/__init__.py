"""codegen.build: compilers, and what is built with them: host libraries and WebAssembly."""
