"""Reproduce the results of papers whose methods are implemented, and compare them."""
