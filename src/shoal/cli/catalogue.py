"""The content of `shoal list`, read from the tables that the code uses."""

from shutil import get_terminal_size

import click

from ..core.errors import some
from ..data import FORMATS
from ..explaining import EXPLAINERS
from ..models import SCHEMES
from ..models.prompted.prompt import PROMPTS
from ..protocols import PROTOCOLS
from ..protocols.scores.read import SCHEME
from ..protocols.settings_table import SettingRow, setting_rows
from ..runs.executors import EXECUTORS


def catalogue(what: str | None) -> str:
    """Return one table, or all of them with their names."""
    tables = {
        "protocols": {name: entry.question for name, entry in PROTOCOLS.items()},
        "models": {f"{scheme}:": about for scheme, (_, about) in SCHEMES.items()}
        | {SCHEME: "results that another tool graded, for compare, gate, show, report and rank"},
        "prompts": PROMPTS,
        "suites": _suites(),
        "rules": _rules(),
        "words": _words(),
        "perturbations": _perturbations(),
        "formats": FORMATS,
        "profiles": _profiles(),
        "executors": EXECUTORS,
        "explainers": EXPLAINERS,
        "factors": _factors(),
    }
    if what:
        return _lines(tables[what], indent="")
    return "\n\n".join(f"{name}\n{_lines(rows, '  ')}" for name, rows in tables.items())


def settings_text(protocol: str) -> str:
    """Return name, type, default and effect of the settings of a protocol, the rare ones last."""
    rows = setting_rows(protocol)
    formatter = click.HelpFormatter(width=min(100, get_terminal_size().columns))
    for title, is_rare in (("Settings", False), ("Rare settings", True)):
        chosen = [row for row in rows if row.advanced is is_rare]
        if chosen:
            with formatter.section(f"{title} of {protocol}"):
                formatter.write_dl([(row.name, _setting(row)) for row in chosen])
    return formatter.getvalue().rstrip()


def _setting(row: SettingRow) -> str:
    default = row.default if row.default in ("–", "required") else f"default {row.default}"
    return f"{row.effect}  [{row.type}; {default.replace('–', 'not set')}]"


def _lines(rows: dict[str, str], indent: str) -> str:
    width = max(map(len, rows))
    return "\n".join(f"{indent}{name:<{width}}  {about}".rstrip() for name, about in rows.items())


def _suites() -> dict[str, str]:
    from ..protocols.behaviour.build import load_suite
    from ..protocols.behaviour.suites import SUITES

    suites = {name: load_suite(name) for name in SUITES}
    return {
        name: f"{len(suite.cases):,} cases in {len(suite.functionalities)} functionalities; {suite.task}"
        for name, suite in suites.items()
    }


def _factors() -> dict[str, str]:
    from ..protocols.ranking.factors import FACTORS

    return {
        name: f"{factor.about}; high is {factor.direction}" if factor.direction else factor.about
        for name, factor in FACTORS.items()
    }


def _rules() -> dict[str, str]:
    from ..protocols.behaviour.expect import DIRECTIONS
    from ..protocols.behaviour.rules import PATTERNS, RULES
    from ..protocols.behaviour.text_rules import TEXT_RULES

    words = {name: f"Short for the rule: {rule}." for name, (rule, _) in DIRECTIONS.items()}
    named = {pattern.replace("(?P<label>.+)", "LABEL"): rule for pattern, rule in PATTERNS.items()}
    rules: dict[str, object] = {**RULES, **TEXT_RULES, **named}
    return words | {name: (rule.__doc__ or "").splitlines()[0] for name, rule in rules.items()}


def _words() -> dict[str, str]:
    from ..protocols.behaviour.lexicons import LEXICONS

    return {
        f"{language} {name}": some(words, 6)
        for language, lists in LEXICONS.items()
        for name, words in lists.items()
    }


def _perturbations() -> dict[str, str]:
    from ..protocols.behaviour.variants import PERTURBATIONS

    return {name: function.__doc__ or "" for name, function in PERTURBATIONS.items()}


def _profiles() -> dict[str, str]:
    from ..protocols.behaviour.settings import PROFILES

    return {
        name: ", ".join(f"{k}={v}" for k, v in rows.items() if v is not None)
        for name, rows in PROFILES.items()
    }
