"""codegen: generate source files from a plan.

The package contains the template contexts, the manifest of a generated folder, the build of the C library on
the host, and the build of firmware images.
"""
