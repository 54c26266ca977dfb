"""Text from data as a terminal or a page may show it: see `text.py`."""

from ..core.text import on_one_line, printable

__all__ = ["on_one_line", "printable"]
