"""cli: the `kerncast` command; thin."""
