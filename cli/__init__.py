"""cli: the `kerncast` command; each module implements one subcommand."""
