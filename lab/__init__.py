"""lab: comparison of results: workflow, demo, ledger, figures."""
