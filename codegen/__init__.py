"""From a plan to files: template contexts, manifest, and the host build."""
