"""lab: compare results across back ends: workflow, demo, ledger, figures."""
