"""Reproduce the results of the implemented papers and compare them."""
