"""Reproduce the implemented papers beside their printed figures."""
