"""The files that `shoal new suite` writes: a commented example, or functionalities proposed from labelled texts."""

import re
from collections import Counter
from collections.abc import Mapping

import numpy as np
import yaml

from ...core.errors import DataError
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

CASES, WORDS = 20, 8
"""Most cases of a proposed functionality, and most words that are proposed."""
FEWEST = 5
"""Fewest texts of a group that is proposed."""
WORD = re.compile(r"[^\W\d_]{4,}")
COMMON = frozenset(
    """
    about after also because been before being could does even from have here http https into just like make more most
    much only other over really same should since some still such than that their them then there these they this those
    through very want well went were what when where which while will with would your
    aber alle auch dann dass dein denn diese dieser dieses doch eine einem einen einer eines haben hatte ihre immer
    kann mein meine mehr mich nach nicht noch oder schon sehr sein seine sich sind über und unser viel wenn werden wird
    """.split()  # noqa: SIM905 (a list of words reads better as text)
)
"""Words of four letters or more that are in texts about anything."""


def starter(name: str) -> str:
    """Return a commented suite to start from."""
    return STARTER.format(name=name, quoted=yaml.safe_dump(name, allow_unicode=True).splitlines()[0])


def proposed(name: str, texts: LabelledTexts, by: str, seed: int = 0) -> str:
    """Return a suite with a functionality per value of a column, or per frequent word, for editing."""
    groups = _by_column(texts, by) if by else _by_word(texts)
    if not groups:
        raise DataError(
            f"no {f'value of column {by!r}' if by else 'word'} has {FEWEST} texts",
            fix="--by COLUMN, or more rows" if not by else "another column, or more rows",
        )
    labels = sorted({row.label for row in texts.rows})
    if len(labels) < 2:
        raise DataError(
            f"one label only: {labels[0]!r}", fix="a table with every label that a model may give"
        )
    rng, tests = np.random.default_rng(seed), {}
    for title, (about, members) in groups.items():
        drawn = sorted(rng.permutation(len(members))[:CASES].tolist())
        rows = [texts.rows[members[place]] for place in drawn]
        texts_of = [row.texts[0] if len(row.texts) == 1 else list(row.texts) for row in rows]
        cases = [{"text": text, "label": row.label} for text, row in zip(texts_of, rows, strict=True)]
        tests[title] = {"description": about, "capability": "proposed", "cases": cases}
    suite = {"suite": name, "labels": labels, "tests": tests}
    head = "# Proposed from labelled texts: rename, delete and add. Labels are the data's; check each one.\n"
    body: str = yaml.safe_dump(suite, allow_unicode=True, sort_keys=False, width=110)
    return head + body


def _by_column(texts: LabelledTexts, by: str) -> Mapping[str, tuple[str, list[int]]]:
    values: dict[str, list[int]] = {}
    for place, more in enumerate(texts.more):
        values.setdefault(more[by], []).append(place)
    groups: dict[str, tuple[str, list[int]]] = {}
    for value, places in values.items():
        if value and len(places) >= FEWEST:
            name = re.sub(r"\W+", "_", value.strip().lower()).strip("_") or "other"
            name = f"{name}_{len(groups)}" if name in groups else name
            groups[name] = f"Texts whose {by} is {value}.", places
    return groups


def _by_word(texts: LabelledTexts) -> Mapping[str, tuple[str, list[int]]]:
    """Return the texts with each frequent word, from words that neither few nor most texts have."""
    found = [set(WORD.findall(" ".join(row.texts).lower())) - COMMON for row in texts.rows]
    counts = Counter(word for words in found for word in sorted(words))
    frequent = [word for word, count in counts.most_common() if FEWEST <= count <= len(found) / 2]
    return {
        f"mentions_{word}": (
            f"Texts that mention {word}.",
            [place for place, words in enumerate(found) if word in words],
        )
        for word in frequent[:WORDS]
    }
