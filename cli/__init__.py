"""The `kerncast` command; thin."""
