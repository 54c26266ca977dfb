"""How things look: sections in a terminal and as Markdown, CSV and LaTeX, and lists of what there is.

Nothing here computes a number, and nothing here knows a protocol: a protocol says what to show, as blocks
(`shoal.views`), and each renderer has one function per kind of block.
"""
