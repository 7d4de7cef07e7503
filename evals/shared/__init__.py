"""Measuring stations that every kit uses. Nothing here names a kit."""
