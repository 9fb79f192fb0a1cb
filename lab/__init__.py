"""Where results are compared: the demo examples, ledgers and reports."""
