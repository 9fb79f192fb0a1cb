"""lab.figures: draw results with matplotlib."""
