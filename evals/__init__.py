"""Measuring: the commands that run, gate, compare and score, and every test."""
