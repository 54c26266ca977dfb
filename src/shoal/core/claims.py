"""Levels and minimum sizes behind every claim, and how to word them (`docs/method/beyond.md` 7.19)."""

ALPHA = 0.05
"""The level of every test, after adjustment."""
POWER = 0.8
"""The power at the minimum detectable effect."""
FLAGGED = 0.10
"""Difference in applicability that is flagged: a model can raise its rate by being tested on fewer cases."""
ENOUGH_SEEDS = 5
"""Seeds needed for a claim about the recipe."""
ONE_CHECKPOINT = "this checkpoint only"
ENOUGH_TEMPLATES = 6
"""With fewer, an exact test over templates cannot reject at 5 %: five that all favour B give p = .06."""


def too_few_templates(number: int) -> str:
    """Return the text for a missing interval over templates.

    >>> too_few_templates(3)
    'too few templates (3)'
    """
    return f"too few templates ({number})"


def reach(seeds: int) -> str:
    """Return the scope of a number over this many seeds.

    >>> reach(1), reach(3)
    ('this checkpoint only', '3 seeds')
    """
    return ONE_CHECKPOINT if seeds == 1 else f"{seeds} seeds"


def reach_so_far(seeds: int, known: int) -> list[str]:
    """Return the scope if some seeds may be incomplete, with a caveat if they are few.

    >>> reach_so_far(3, 4)
    ['3 of 4 seeds complete', 'fewer than 5 seeds: no claim about new trainings']
    """
    words = [f"{seeds} of {known} seeds complete"] if seeds < known else []
    if seeds == 1:
        return [*words, ONE_CHECKPOINT]
    few = f"fewer than {ENOUGH_SEEDS} seeds: no claim about new trainings"
    return [*(words or [reach(seeds)]), *([few] if seeds < ENOUGH_SEEDS else [])]


def claim_of_rows(seeds: int) -> str:
    """Return the scope of a table whose rows are means over this many seeds.

    >>> claim_of_rows(3)
    'mean of 3 seeds; a claim about new trainings needs 5'
    """
    if seeds < 2:
        return f"one seed a row: {ONE_CHECKPOINT}, on new cases of these functionalities"
    if seeds < ENOUGH_SEEDS:
        return f"mean of {seeds} seeds; a claim about new trainings needs {ENOUGH_SEEDS}"
    return f"mean of {seeds} seeds: for this training recipe, on new cases of these functionalities"
