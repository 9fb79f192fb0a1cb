"""codegen: turn a plan into files: templates, manifest, host build, firmware image."""
