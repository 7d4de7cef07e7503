"""Floors, scores and the label gate of admission_status."""
