"""codegen: from a plan to files: template contexts, manifest, host build, firmware image."""
