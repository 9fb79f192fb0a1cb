"""codegen.firmware: firmware images, their targets and their footprint."""
