"""Floors, scores and the label gate of pend_resolve."""
