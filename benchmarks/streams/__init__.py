"""Compare learners with the filters of padasip on two streams."""
