"""legal_hold: who on a matter's roster is on hold at each scheduled run, and who has gone quiet."""
