"""Learn two real streams sample by sample, compared with padasip's filters."""
