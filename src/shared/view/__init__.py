"""Records and kits → what the board draws, as plain data. Reads `data/` and `results/`; decides and measures nothing."""
