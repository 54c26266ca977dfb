"""The browser of the tests of pages."""

from browsing import browser, opened

__all__ = ["browser", "opened"]
