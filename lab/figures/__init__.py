"""lab.figures: draw figures of results with matplotlib."""
