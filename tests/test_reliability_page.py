"""The page on reliability: its limits are those of the code."""

import re
from pathlib import Path

from shoal.core import files
from shoal.data import pickle_machine, pickles
from shoal.models import validate

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reliability.md").read_text()
LIMITS = {
    "a line, or a field of a table": f"{files.LONGEST_LINE // 2**20} MB",
    "a file that is read whole": f"{files.LARGEST_WHOLE // 2**20} MB",
    "lists and objects inside each other": f"{files.DEEPEST}",
    "parts of a dotted key": f"{files.DEEPEST}",
    "a gzip file, unzipped": f"{files.USUAL_SWELLING} times its size, if that is more than {files.SMALL // 2**20} MB",
    "a pickled suite, unzipped": f"{pickles.FILE_LIMIT:,} bytes",
    "following a pickle": f"{pickle_machine.STEP_LIMIT:,} steps, {pickle_machine.MEMORY_LIMIT:,} bytes of memory, "
    f"{pickle_machine.STRING_LIMIT:,} bytes in a string",
    "what a pickled suite unfolds to": f"{pickles.RESULT_LIMIT:,} bytes, lists {pickles.DEPTH_LIMIT} deep",
    "the text of a model's error": f"{validate.LONGEST_MESSAGE:,} letters",
}


def rows() -> dict[str, str]:
    table = PAGE.partition("## How much is read")[2]
    return dict(re.findall(r"^\| (?!what \||---)(.+?) \| (.+) \|$", table, re.MULTILINE))


def test_the_limits_on_the_page_are_those_of_the_code():
    assert len(rows()) == len(LIMITS)
    shown = {what: limit for what in LIMITS for row, limit in rows().items() if row.startswith(what)}
    assert not [what for what, limit in LIMITS.items() if not shown.get(what, "").startswith(limit)]
