"""Short portraits of one person, and a question with its answer in the text.

A portrait has four to six facts in any order; each kind of fact has its own words and its own questions. It is
about one person, who is named first: the kind of question alone tells the answer.
"""

from typing import NamedTuple

from numpy.random import Generator

from . import Row, draw, pick, sentence

WOMEN = "Marta|Elena|Priya|Greta|Rosa|Ingrid|Naomi|Olga|Leila|Joanna"
MEN = "Jonas|Omar|Felix|Ivan|Pavel|Lars|Mateo|Kofi|Viktor|Emil"
CITIES = (
    "Lisbon|Oslo|Vienna|Lima|Seoul|Cairo|Prague|Dublin|Riga|Tunis|Madrid|Hanoi|Lagos|Geneva|Athens|Bergen"
)
JOBS = "nurse|teacher|lawyer|farmer|driver|baker|plumber|dentist|painter|librarian|gardener|tailor|pilot|chef"


class Kind(NamedTuple):
    """A kind of fact: its values, sentences, questions, and the question for the person instead."""

    values: str
    told: tuple[str, ...]
    asked: tuple[str, ...]
    turned: str = ""


KINDS: dict[str, Kind] = {
    "partner": Kind(
        f"{WOMEN}|{MEN}",
        ("{who} is married to {}", "{who} fell in love with {}"),
        ("Who is {name} married to?", "Who did {name} fall in love with?"),
    ),
    "boss": Kind(
        f"{WOMEN}|{MEN}",
        ("the boss is called {}", "{who} gets orders from {}"),
        ("Who is {name}'s boss?", "Who gives {name} orders?"),
    ),
    "job": Kind(
        JOBS,
        ("{who} earns a living as a {}", "{who} has been a {} for many years"),
        ("What does {name} do for a living?", "What is {name}'s job?", "What kind of work does {name} do?"),
        "Who earns a living as a {}?",
    ),
    "home": Kind(
        CITIES,
        ("{who} lives in {} with two friends", "{who} has a flat in {}"),
        ("Where does {name} live?", "In which city is {name}'s flat?"),
        "Who has a flat in {}?",
    ),
    "origin": Kind(
        CITIES,
        ("{who} was born in {}", "{who} grew up in {}"),
        ("Where was {name} born?", "Where did {name} grow up?"),
    ),
    "arrival": Kind(
        "|".join(str(year) for year in range(1990, 2022)),
        ("{who} moved house in {}", "the last move was in {}"),
        ("When did {name} move?", "In which year did {name} move house?"),
    ),
    "pet": Kind(
        "cat|dog|parrot|rabbit|hamster|turtle|snake|goat|lizard|canary",
        ("{who} keeps a {} in the kitchen", "a {} sleeps on the sofa"),
        ("What animal does {name} keep?", "Which pet does {name} have?"),
    ),
    "music": Kind(
        "guitar|piano|violin|flute|cello|trumpet|harp|drums|accordion|clarinet",
        ("{who} plays the {} on Sundays", "in the evening {who} practises the {}"),
        ("Which instrument does {name} play?", "What does {name} practise?"),
        "Who practises the {}?",
    ),
    "start": Kind(
        "six|seven|eight|nine|half past six|half past seven|half past eight|noon|ten|half past nine",
        ("work starts at {}", "{who} gets to work at {}"),
        ("When does {name}'s work start?", "At what time does {name} get to work?"),
    ),
    "food": Kind(
        "porridge|toast|pancakes|two eggs|yoghurt|fruit|rice|soup|cold pizza|fried beans",
        ("for breakfast {who} eats {}", "{who} cannot start the day without {}"),
        ("What does {name} eat for breakfast?", "What does {name} have in the morning?"),
    ),
    "children": Kind(
        "two|three|four|five|six|seven|eight",
        ("{who} has {} children", "{} children run around in the garden"),
        ("How many children does {name} have?", "How many children are there?"),
    ),
    "car": Kind(
        "red|green|black|white|yellow|dark blue|light grey|brown|pink|silver",
        ("{who} drives a {} car", "a {} car stands at the door"),
        ("What colour is {name}'s car?", "Which colour does the car have?"),
    ),
}
"""The empty braces hold the value, which is the answer."""

VALUES = {name: kind.values.split("|") for name, kind in KINDS.items()}


def make(split: str, n: int, seed: int = 0) -> list[Row]:
    """Return n portraits, each with one question."""
    return draw(portrait, split, n, seed, content=lambda row: row.texts[0])


def portrait(rng: Generator) -> Row:
    """Return one portrait with a question, its answer, and the position of the answer."""
    pronoun, names = pick(rng, (("she", WOMEN), ("he", MEN)))
    name = pick(rng, names.split("|"))
    kinds = [list(KINDS)[i] for i in rng.permutation(len(KINDS))[: rng.integers(4, 7)]]
    wanted = pick(rng, kinds)
    text, question, answer, start = "", "", "", 0
    for kind in kinds:
        fact = KINDS[kind]
        value = pick(rng, [value for value in VALUES[kind] if value != name])
        told = pick(rng, [told for told in fact.told if text or told.startswith("{who}")])
        before, after = told.replace("{who}", pronoun if text else name).split("{}")
        text += " " if text else ""
        if kind == wanted and fact.turned and rng.random() < 0.3:
            question, answer = fact.turned.replace("{}", value), name
        elif kind == wanted:
            question, answer, start = pick(rng, fact.asked), value, len(text + before)
        text += sentence(before + value + after)
    # A value that opens its sentence has a capital.
    return Row((text, question.replace("{name}", name)), text[start : start + len(answer)], start)
