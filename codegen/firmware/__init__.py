"""codegen.firmware: images for boards, their targets and their footprint."""
