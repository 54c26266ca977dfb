"""The verbs `help` and `list`: help of a verb or a topic, and the tables that the code uses."""

from collections.abc import Mapping
from contextlib import nullcontext
from difflib import get_close_matches
from operator import attrgetter
from shutil import get_terminal_size

import click

MODELS = """
Model specs: the same string names a model on the command line, in plans
and in Python.

  hf:FOLDER or hf:NAME         a Transformers model; you may omit hf: in `try`
  python:MODULE:NAME           a function, or an object with predict
  predictions:FILE             answers that were computed elsewhere
  scores:FILE                  results that another tool graded, for `compare`,
                               `gate`, `show`, `report` and `rank`
  openai:MODEL?url=URL&prompt=PROMPT
                               a model behind a chat-completions endpoint
  hf:FOLDER?prompt=PROMPT      local weights with a prompt
  vectors:FILE                 word vectors, for bias
  tiny:NAME                    a small model that ships with shoal

Options follow ?, and & separates them. Quote the spec for your shell.

  labels=negative,positive     the suite's labels in the order of the outputs
  labels=LABEL_0:negative,LABEL_1:positive
                               or pairs: the model's label, then the suite's.
                               The option --labels does the same
  hf:          max_length, dtype, device, revision, task, engine, reads,
               allow_pickle
  python:      version, timeout
  predictions: format, id, label, probabilities, rows
  scores:      metric, group, model; also id and run if FILE is a table
  prompted:    prompt, mode, max_tokens
  openai:      url, key_from, price, budget, temperature, seed, concurrency,
               tries, timeout, again

A comma or colon inside a label needs a backslash: so\\, so. Inside ?labels=
write %26 for & and %2B for +; --labels does that for you.

More: `shoal list models`, `shoal list prompts`.
"""

SETTINGS = """
Settings of a protocol, such as its suite or split.

  --suite NAME, --data NAME    the suite or the data; most commands need one
  --set KEY=VALUE              any other; repeat for more
  --set KEY=A,B                a list
  --set TABLE.KEY=VALUE        a setting in a table, such as train.method

In a plan, write them into the table that has the name of the protocol. Rare
ones may also go into [behaviour.advanced].

  [behaviour]
  suite = "suite.jsonl"
  split = "test"

In Python they are keywords: shoal.audit("behaviour", model, suite="s.jsonl").

Name, type, default and effect of each: `shoal list settings behaviour`
"""

RULES = """
Rules that a model must meet: `shoal gate RESULT --rules gate.toml`

  [[rule]]                     # the suite score
  at_least = 0.85

  [[rule]]                     # each functionality of a capability
  capability = "fairness"
  functionality = "*"
  no_worse_than_baseline_by = 0.02

  functionality, capability, test_type, ...
                               the group to judge; "*" judges each
  measure                      the measure to judge; needed only if these
                               groups have several measures
  at_least, at_most            a limit; rates are fractions
  no_worse_than_baseline_by    how much worse than the --baseline it may be
  judge                        "observed" (default), "lower bound" or
                               "upper bound" of the interval
  allow_errors                 ignore cases without an answer
  allow_undefined              skip groups without an applicable case

Exit codes: 0 every rule is met, 3 a rule is not met.

`shoal list rules` lists something else: the rules by which suites judge cases.
"""

FILES = """
Files that shoal reads and writes.

  suite        .jsonl, one case per line; .yaml or a sheet with templates; .py.
               See `shoal new`, `import`, `check`.
  predictions  .jsonl or .csv with an id and a label, or a probability per
               label. `shoal export SUITE --out texts.csv` writes the ids.
  scores       logs of lm-evaluation-harness, inspect, promptfoo, HELM, MLflow,
               Every Eval Ever, or a table with an id and a score.
  plan, rules  .toml: models and settings for `run`; limits for `gate`.
  result       .json, from --json: rates without cases.
  page         .html, with its numbers as .json and tables as .csv beside it.

  runs/        results of `run`, one folder per job; --into names another.
  .shoal/      the latest result of `try`, called last. You may delete it.

Formats that `import` recognises: `shoal list formats`
"""

TOPICS = {"models": MODELS, "settings": SETTINGS, "rules": RULES, "files": FILES}


@click.command("help")
@click.argument("topic", required=False)
@click.pass_context
def help_command(ctx: click.Context, topic: str | None) -> None:
    """Explain a command or topic: models, settings, rules, files.

    \b
    Examples:
      shoal help models
      shoal help compare
    """
    from ..protocols import PROTOCOLS

    root = ctx.find_root()
    assert isinstance(root.command, click.Group)
    if topic is None:
        click.echo(root.get_help())
    elif topic in TOPICS:
        click.echo(TOPICS[topic].strip())
    elif topic in root.command.commands:
        verb = root.command.commands[topic]
        click.echo(click.Context(verb, info_name=topic, parent=root).get_help())
    else:
        known = [*TOPICS, *root.command.commands]
        near = get_close_matches(topic, known, 1)
        fix = f"try: shoal help {near[0]}" if near else f"topics: {', '.join(TOPICS)}; or any command"
        if topic in PROTOCOLS:
            fix = f"it is a protocol; try: shoal list settings {topic}, or shoal help try"
        raise click.UsageError(f"no topic or command {topic!r}; {fix}")


TABLES = ["protocols", "models", "prompts", "suites", "rules", "formats", "profiles", "executors"]
TABLES += ["explainers", "factors", "words", "perturbations"]


@click.command("list")
@click.argument("what", type=click.Choice([*TABLES, "settings"]), metavar="[TABLE]", required=False)
@click.argument("protocol", required=False)
def list_command(what: str | None, protocol: str | None) -> None:
    """List protocols, suites, formats, rules, models and settings.

    TABLE is one of protocols, models, prompts, suites, rules, words, perturbations, formats, profiles, executors,
    explainers, factors, and settings, which needs a PROTOCOL.

    \b
    Examples:
      shoal list suites
      shoal list settings behaviour
    """
    from ..protocols import PROTOCOLS, find_protocol

    if what == "settings":
        if not protocol:
            raise click.UsageError(f"settings of which protocol? {', '.join(PROTOCOLS)}")
        find_protocol(protocol)
        click.echo(_settings_text(protocol))
    elif protocol:
        raise click.UsageError(f"only settings are by protocol: shoal list settings {protocol}")
    else:
        tables = _tables()
        click.echo(_definitions({"": tables[what]} if what else {name: tables[name] for name in TABLES}))


def _definitions(lists: Mapping[str, Mapping[str, str]]) -> str:
    """Return names with their texts, each list below its heading if it has one."""
    formatter = click.HelpFormatter(width=min(100, get_terminal_size().columns))
    for heading, texts in lists.items():
        with formatter.section(heading) if heading else nullcontext():
            formatter.write_dl(list(texts.items()))
    return formatter.getvalue().strip()


def _tables() -> dict[str, dict[str, str]]:
    from ..data import FORMATS
    from ..explaining import EXPLAINERS
    from ..models import SCHEMES
    from ..models.prompted.prompt import PROMPTS
    from ..protocols import PROTOCOLS
    from ..protocols.ranking.factors import FACTORS
    from ..protocols.scores.read import SCHEME
    from ..runs.executors import EXECUTORS

    graded = "results that another tool graded, for compare, gate, show, report and rank"
    factors = {
        name: f"{factor.about}; high is {factor.direction}" if factor.direction else factor.about
        for name, factor in FACTORS.items()
    }
    return {
        "protocols": {name: entry.question for name, entry in PROTOCOLS.items()},
        "models": {f"{scheme}:": about for scheme, (_, about) in SCHEMES.items()} | {SCHEME: graded},
        "prompts": PROMPTS,
        "formats": FORMATS,
        "executors": EXECUTORS,
        "explainers": EXPLAINERS,
        "factors": factors,
        **_suite_tables(),
    }


def _suite_tables() -> dict[str, dict[str, str]]:
    from ..core.errors import some
    from ..protocols.behaviour.build import load_suite
    from ..protocols.behaviour.expect import DIRECTIONS
    from ..protocols.behaviour.lexicons import LEXICONS
    from ..protocols.behaviour.rules import PATTERNS, RULES
    from ..protocols.behaviour.settings import PROFILES
    from ..protocols.behaviour.suites import SUITES
    from ..protocols.behaviour.text_rules import TEXT_RULES
    from ..protocols.behaviour.variants import PERTURBATIONS

    suites = {name: load_suite(name) for name in SUITES}
    patterns = {pattern.replace("(?P<label>.+)", "LABEL"): rule for pattern, rule in PATTERNS.items()}
    rules: dict[str, object] = {**RULES, **TEXT_RULES, **patterns}
    return {
        "suites": {
            name: f"{len(suite.cases):,} cases in {len(suite.functionalities)} functionalities; {suite.task}"
            for name, suite in suites.items()
        },
        "rules": {name: f"Short for the rule: {rule}." for name, (rule, _) in DIRECTIONS.items()}
        | {name: (rule.__doc__ or "").splitlines()[0] for name, rule in rules.items()},
        "words": {
            f"{language} {name}": some(words, 6)
            for language, lists in LEXICONS.items()
            for name, words in lists.items()
        },
        "perturbations": {name: function.__doc__ or "" for name, function in PERTURBATIONS.items()},
        "profiles": {
            name: ", ".join(f"{key}={value}" for key, value in rows.items() if value is not None)
            for name, rows in PROFILES.items()
        },
    }


def _settings_text(protocol: str) -> str:
    """Return name, type, default and effect of the settings of a protocol, the rare ones last."""
    from ..protocols.settings_table import setting_rows

    lists: dict[str, dict[str, str]] = {}
    for row in sorted(setting_rows(protocol), key=attrgetter("advanced")):
        default = {"–": "not set", "required": "required"}.get(row.default, f"default {row.default}")
        heading = f"{'Rare settings' if row.advanced else 'Settings'} of {protocol}"
        lists.setdefault(heading, {})[row.name] = f"{row.effect}  [{row.type}; {default}]"
    return _definitions(lists)
