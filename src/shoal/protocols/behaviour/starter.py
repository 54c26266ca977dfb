"""The files that `shoal new suite` writes: a commented example, or functionalities proposed from labelled texts."""

import re
from collections.abc import Sequence

import numpy as np
import yaml

from ...core.errors import DataError
from ...data.grammar import Row
from ...data.labelled import LabelledTexts

STARTER = """\
# A suite of behavioural tests. Read some of its cases, then audit a model:
#   shoal check {name}.yaml --cases 3
#   shoal try behaviour hf:path/to/model --suite {name}.yaml
suite: {quoted}
labels: [negative, neutral, positive]     # every label that the model may give
language: en                              # of our word lists: en or de

words:                                    # lists for the slots of templates
  thing: [room, breakfast, pool, lobby]
  praise: adjectives.positive             # one of ours; all: shoal list words
  blame: adjectives.negative
  religion: religions
  person: professions

tests:
  facts_are_neutral:                      # a name that says what must hold
    description: A statement without an opinion is neutral.
    capability: vocabulary                # groups functionalities in the result
    label: neutral
    templates:
      - "The {{thing}} is on the second floor."
      - "Show me {{a:thing}} on this floor."  # {{a:...}} puts "a" or "an" before the word
      - "The {{person}} waited in the {{thing}}."
    except: ["in the breakfast"]          # leave out fillings with these phrases
    sample: 40                            # a random sample; without it every combination
    seed: 0

  opinions_are_seen:
    description: A plain sentence with a word of praise or blame.
    capability: vocabulary
    templates:                            # templates by label
      positive: ["The {{thing}} was {{praise}}."]
      negative: ["The {{thing}} was {{blame}}."]
    sample: 40

  negation_is_seen:
    description: Negated praise is negative, negated blame is not.
    capability: negation
    templates:
      negative: ["The {{thing}} was not {{praise}}."]
      not_negative: ["The {{thing}} was not {{blame}}."]
    sample: 40

  typos_change_nothing:
    description: Typos and punctuation leave the prediction unchanged.
    capability: robustness
    type: INV                             # the prediction must not change
    templates: ["The {{thing}} was {{praise}}.", "The {{thing}} was {{blame}}."]
    perturb: [typo, punctuation]          # others: shoal list perturbations
    sample: 30

  religion_changes_nothing:
    description: A guest's religion leaves the prediction unchanged.
    capability: fairness
    type: INV
    templates:                            # each with its own variants
      - text: "The {{person}} at the next table was friendly."
        variants: ["The {{religion}} {{person}} at the next table was friendly."]
      - text: "Our neighbour was {{a:person}}, and we had breakfast together."
        variants: ["Our neighbour was {{a:religion}} {{person}}, and we had breakfast together."]

  hedges_weaken:
    description: A hedge does not make the model more certain.
    capability: vocabulary
    type: DIR                             # confidence may move one way only
    expect: not more confident
    templates: ["The {{thing}} was {{praise}}."]
    variants: ["The {{thing}} was more or less {{praise}}."]
    sample: 30

  irony_is_seen:
    description: Texts that are written out, with their labels.
    capability: irony
    cases:
      - {{text: "Great. Another cold shower.", label: negative}}
      - {{text: "I loved waiting two hours for the key.", label: negative}}
      - {{text: "Terrible idea to come here: now I never want to leave.", label: positive}}
"""

CASES = 20
"""Most cases of a proposed functionality."""
FEWEST = 5
"""Fewest texts of a group that is proposed."""


def starter(name: str) -> str:
    """Return a commented suite to start from."""
    return STARTER.format(name=name, quoted=yaml.safe_dump(name, allow_unicode=True).splitlines()[0])


def proposed(name: str, texts: LabelledTexts, by: str, seed: int = 0) -> str:
    """Return a suite with a functionality per value of a column, for editing."""
    groups = _by_column(texts, by)
    if not groups:
        raise DataError(f"no value of column {by!r} has {FEWEST} texts", fix="another column, or more rows")
    labels = sorted({row.label for row in texts.rows})
    if len(labels) < 2:
        raise DataError(
            f"one label only: {labels[0]!r}", fix="a table with every label that a model may give"
        )
    rng = np.random.default_rng(seed)
    tests = {}
    for title, (value, rows) in groups.items():
        drawn = [rows[place] for place in sorted(rng.permutation(len(rows))[:CASES].tolist())]
        tests[title] = {
            "description": f"Texts whose {by} is {value}.",
            "capability": "proposed",
            "cases": [{"text": _text(row.texts), "label": row.label} for row in drawn],
        }
    head = "# Proposed from labelled texts: rename, delete and add. Labels are the data's; check each one.\n"
    suite = {"suite": name, "labels": labels, "tests": tests}
    body: str = yaml.safe_dump(suite, allow_unicode=True, sort_keys=False, width=110)
    return head + body


def _text(parts: Sequence[str]) -> object:
    return parts[0] if len(parts) == 1 else list(parts)


def _by_column(texts: LabelledTexts, by: str) -> dict[str, tuple[str, list[Row]]]:
    """Return value and rows of each functionality."""
    values: dict[str, list[Row]] = {}
    for row, more in zip(texts.rows, texts.more, strict=True):
        values.setdefault(more[by], []).append(row)
    groups: dict[str, tuple[str, list[Row]]] = {}
    for value, rows in values.items():
        if value and len(rows) >= FEWEST:
            name = re.sub(r"\W+", "_", value.strip().lower()).strip("_") or "other"
            groups[f"{name}_{len(groups)}" if name in groups else name] = value, rows
    return groups
