"""The suites that ship with shoal: written here, in Python, one module each.

To add one: write `suites/<name>.py` that defines `suite`, and add a line.
"""

SUITES: dict[str, str] = {
    "sentiment": "sentiment",
    "paraphrase": "paraphrase",
    "reading": "reading",
}
"""Name to module."""
