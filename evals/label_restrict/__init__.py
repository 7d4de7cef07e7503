"""Floors, scores and the label gate of label_restrict."""
