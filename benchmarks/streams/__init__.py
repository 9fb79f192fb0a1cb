"""Two real streams, learned one sample at a time beside padasip's filters."""
