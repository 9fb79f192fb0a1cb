"""benchmarks.many_classes: compare learners of several classes with others."""
