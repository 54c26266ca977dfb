"""Turning settings and plans into results."""
