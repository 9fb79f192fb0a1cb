"""lab: where results are compared: the demo and its examples, the ledger, the pictures."""
