"""legal_hold measured: floors, scores, the label gate, tests."""
