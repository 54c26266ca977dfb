"""Measures in, one HTML file out: it opens from disk, and nothing in it is fetched."""
