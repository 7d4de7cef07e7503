"""Stations that every kit uses. Nothing here names a kit or imports one."""
