"""codegen: turn a plan into files.

Templates, manifest, host build and firmware image.
"""
