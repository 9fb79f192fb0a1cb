"""Learn two real streams sample by sample, beside padasip's filters."""
