"""Renderers: a protocol's blocks (`core.views`) in, text out.

Terminal, CSV, LaTeX, HTML and figures each have one function per kind of block. Nothing here computes a
number or knows a protocol.
"""
