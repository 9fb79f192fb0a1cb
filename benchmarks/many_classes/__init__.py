"""benchmarks.many_classes: several classes, compared with other libraries."""
