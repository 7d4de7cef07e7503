"""Kits and records → what the board draws, as plain data. Reads `data/` and `results/` and decides nothing."""
