"""cli: the command `kerncast`; each module implements one subcommand."""
