"""lab.figures: figures of results, drawn with matplotlib."""
