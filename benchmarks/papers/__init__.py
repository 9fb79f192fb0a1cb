"""Reproduce the implemented papers and compare with their printed figures."""
