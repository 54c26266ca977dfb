"""A paraphrase suite: when do two questions ask the same thing, and when does one small word set them apart?"""

from collections.abc import Iterator
from functools import partial
from itertools import permutations, product

import numpy as np

from ....core.records import Case
from .. import perturb
from ..suite import Suite, case
from . import an, some_of

SKILLS = ("the guitar", "chess", "Spanish", "swimming", "photography", "the violin", "Arabic", "carpentry")
CITIES = ("Lisbon", "Oslo", "Lima", "Vienna", "Cairo", "Kyoto", "Nairobi", "Quito")
PEOPLE = ("Marta", "Jonas", "Elena", "Omar", "Priya", "Felix", "Keiko", "Samir")
JOBS = ("nurse", "teacher", "lawyer", "farmer", "driver", "chef", "plumber", "judge")

SAME = (
    ("How can someone learn {skill} at home?", "What is a good way to learn {skill} at home?"),
    ("What does a week in {city} cost?", "How expensive is a week in {city}?"),
    ("Which season is best for seeing {city}?", "What is the best season to see {city}?"),
    ("How many months does it take to master {skill}?", "How long does it take to master {skill}?"),
)
OTHER = (
    ("How can someone learn {skill} at home?", "Is there any money in {skill}?"),
    ("What does a week in {city} cost?", "Does it snow in {city}?"),
    ("Which season is best for seeing {city}?", "What is the rent for a room in {city}?"),
    ("How many months does it take to master {skill}?", "Who is the most famous teacher of {skill}?"),
)

suite = Suite("paraphrase", ("different", "duplicate"), task="paraphrase", version="1")
separating = partial(
    suite.directional, expect="pred_equals_different", na_if="original pred is not duplicate"
)
"""Changes after which two questions that ask the same no longer do so."""


def in_pairs(*pairs: str) -> list[list[str]]:
    """Pairs of words that are written as one text."""
    return [pair.split() for pair in pairs]


def pairs(*templates: tuple[str, str]) -> Iterator[tuple[str, str, str]]:
    """Pairs of questions with every skill or city in them, and the template of each pair."""
    for first, second in templates:
        for slot, words in (("{skill}", SKILLS), ("{city}", CITIES)):
            for word in words if slot in first else ():
                yield first.replace(slot, word), second.replace(slot, word), f"{first} {second}"


# Vocabulary


@suite.minimum(capability="vocabulary")
def a_question_repeats_itself() -> Iterator[Case]:
    """The same question twice is a duplicate."""
    for first, _, template in pairs(*SAME):
        yield case((first, first), label="duplicate", cluster=template)


@suite.minimum(capability="vocabulary")
def synonyms_ask_the_same() -> Iterator[Case]:
    """A word of the same meaning does not change the question."""
    synonyms = ("loud noisy", "hard difficult", "quick fast", "pretty beautiful", "strange odd", "quiet calm")
    templates = ("What makes {city} so {word}?", "Is life in {city} {word}?")
    for template, words, city in some_of(60, templates, synonyms, CITIES):
        one, other = (template.format(word=word, city=city) for word in words.split())
        yield case((one, other), label="duplicate", cluster=template)


@suite.minimum(capability="vocabulary")
def opposites_ask_something_else() -> Iterator[Case]:
    """A word of the opposite meaning changes the question."""
    opposites = in_pairs(
        "cheap expensive", "safe dangerous", "warm cold", "easy hard", "old young", "loud quiet"
    )
    for (one, other), city in some_of(60, opposites, CITIES):
        texts = (f"What is {one} in {city}?", f"What is {other} in {city}?")
        yield case(texts, label="different", cluster="What is … in …?")


@suite.minimum(capability="vocabulary")
def a_modifier_matters() -> Iterator[Case]:
    """Asking about a nurse is not asking about a retired nurse."""
    for kind, job, name in some_of(60, ("retired", "good", "former", "trained"), JOBS, PEOPLE):
        texts = (f"Is {name} {an(job)}?", f"Is {name} {an(f'{kind} {job}')}?")
        yield case(texts, label="different", cluster="Is … a …?")


OPPOSITES = in_pairs(
    "patient impatient", "polite rude", "honest dishonest", "calm nervous", "careful careless"
)


@suite.minimum(capability="vocabulary")
def more_of_one_is_less_of_its_opposite() -> Iterator[Case]:
    """Becoming more patient is becoming less impatient, and the other way round."""
    for (one, other), job in some_of(30, OPPOSITES, JOBS):
        asked = f"How does {an(job)} become"
        for how, label in (("less", "duplicate"), ("more", "different")):
            texts = (f"{asked} more {one}?", f"{asked} {how} {other}?")
            yield case(texts, label=label, cluster=f"more, {how}")


# Negation


@suite.minimum(capability="negation")
def not_makes_another_question() -> Iterator[Case]:
    """Asking why something is so is not asking why it is not so."""
    habits = ("drink coffee", "eat meat", "own a car", "watch the news", "take the train", "pay by card")
    for habit, city in some_of(48, habits, CITIES):
        texts = (f"Why do people in {city} {habit}?", f"Why do people in {city} not {habit}?")
        yield case(texts, label="different", cluster="Why do people in … …?")


@suite.minimum(capability="negation")
def avoiding_the_opposite_is_the_same() -> Iterator[Case]:
    """Staying calm is not being nervous."""
    for (one, other), job in some_of(40, OPPOSITES, JOBS):
        texts = (f"How can {an(job)} stay {one}?", f"What can {an(job)} do so as not to be {other}?")
        yield case(texts, label="duplicate", cluster="How can a … stay …?")


@separating(capability="negation")
def adding_not_to_one_question_separates() -> Iterator[Case]:
    """Two questions that ask the same no longer do so once one of them is negated."""
    templates = (
        ("Why do adults give up {skill}?", "What makes adults give up {skill}?", "give", "not give"),
        (
            "When should a family visit {city}?",
            "Which month should a family visit {city}?",
            "visit",
            "not visit",
        ),
        ("Who can walk alone in {city}?", "Which people can walk alone in {city}?", "can", "cannot"),
    )
    for first, second, verb, negated in templates:
        for one, other, template in pairs((first, second)):
            yield case((one, other), (one, perturb.change_word(other, verb, negated)), cluster=template)
            yield case((other, one), (other, perturb.change_word(one, verb, negated)), cluster=template)


# Temporal


@suite.minimum(capability="temporal")
def before_is_not_after() -> Iterator[Case]:
    """Before and after ask about different times."""
    deeds = ("swimming", "a long flight", "an exam", "running", "a job interview", "going to sleep")
    things = ("eat", "drink coffee", "rest for an hour", "take vitamins", "call a friend")
    for thing, deed in some_of(30, things, deeds):
        texts = (f"Is it wise to {thing} before {deed}?", f"Is it wise to {thing} after {deed}?")
        yield case(texts, label="different", cluster="Is it wise to … before …?")


@suite.minimum(capability="temporal")
def what_was_is_not_what_is() -> Iterator[Case]:
    """Asking what someone used to be is not asking what they are."""
    for name, job in some_of(40, PEOPLE, JOBS):
        texts = (f"Did {name} use to be {an(job)}?", f"Is {name} {an(job)} now?")
        yield case(texts, label="different", cluster="Did … use to be a …?")


# Roles


@suite.minimum(capability="roles")
def the_order_of_a_comparison_matters() -> Iterator[Case]:
    """Whether Marta is taller than Ivan is not whether Ivan is taller than Marta."""
    for (one, other), word in product(permutations(PEOPLE[:5], 2), ("taller", "older")):
        texts = (f"Is {one} {word} than {other}?", f"Is {other} {word} than {one}?")
        yield case(texts, label="different", cluster="Is … than …?")


@suite.minimum(capability="roles")
def a_comparison_turned_round_twice_is_the_same() -> Iterator[Case]:
    """Marta is taller than Ivan when Ivan is shorter than Marta."""
    turned = {"taller": "shorter", "older": "younger", "faster": "slower"}
    for (one, other), word in product(permutations(PEOPLE[:5], 2), turned):
        texts = (f"Is {one} {word} than {other}?", f"Is {other} {turned[word]} than {one}?")
        yield case(texts, label="duplicate", cluster="Is … than …?")


@suite.minimum(capability="roles")
def some_relations_go_both_ways() -> Iterator[Case]:
    """Two people are married in either order."""
    relations = ("married", "related", "colleagues")
    for (one, other), word in product(permutations(PEOPLE[3:], 2), relations):
        texts = (f"Are {one} and {other} {word}?", f"Are {other} and {one} {word}?")
        yield case(texts, label="duplicate", cluster="Are … and … …?")


DEEDS = {"invite": "invited", "help": "helped", "hire": "hired", "thank": "thanked"}


@suite.minimum(capability="roles")
def active_and_passive_ask_the_same() -> Iterator[Case]:
    """Who did what to whom stays the same in the passive."""
    for (one, other), deed in product(permutations(PEOPLE[:4], 2), DEEDS):
        texts = (f"Did {one} {deed} {other}?", f"Was {other} {DEEDS[deed]} by {one}?")
        yield case(texts, label="duplicate", cluster="Did … …? Was … by …?")


@suite.minimum(capability="roles")
def the_passive_does_not_swap_roles() -> Iterator[Case]:
    """Inviting someone is not being invited by them."""
    for (one, other), deed in product(permutations(PEOPLE[:4], 2), DEEDS):
        texts = (f"Did {one} {deed} {other}?", f"Was {one} {DEEDS[deed]} by {other}?")
        yield case(texts, label="different", cluster="Did … …? Was … by …?")


# Named entities


@suite.minimum(capability="named entities")
def another_person_is_another_question() -> Iterator[Case]:
    """The same question about someone else is a different question."""
    for (one, other), job in product(permutations(PEOPLE[:5], 2), JOBS[:3]):
        texts = (f"Is {one} {an(job)}?", f"Is {other} {an(job)}?")
        yield case(texts, label="different", cluster="Is … a …?")


@separating(capability="named entities")
def another_place_in_one_question_separates() -> Iterator[Case]:
    """Two questions that ask the same no longer do so once one is about another place."""
    rng = np.random.default_rng(1)
    for first, second, template in pairs(*SAME[1:3]):
        for one, other in ((first, second), (second, first)):
            variants = [(one, change.text) for change in perturb.change_places(other, rng)]
            yield case((one, other), *variants, cluster=template)


@separating(capability="named entities")
def another_number_in_one_question_separates() -> Iterator[Case]:
    """Two questions that ask the same no longer do so once one has another number."""
    rng = np.random.default_rng(2)
    templates = (
        ("How much do 12 lessons in {skill} cost?", "What is the price of 12 lessons in {skill}?"),
        ("What does a flat for 5 in {city} cost?", "How high is the rent of a flat for 5 in {city}?"),
    )
    for one, other, template in pairs(*templates):
        for first, second in ((one, other), (other, one)):
            variants = [(first, change.text) for change in perturb.change_numbers(second, rng)]
            yield case((first, second), *variants, cluster=template)


@suite.invariance(capability="named entities")
def another_place_in_both_changes_nothing() -> Iterator[Case]:
    """Whether two questions ask the same does not depend on the place they ask about."""
    for first, second in (*SAME[1:3], *OTHER[1:3]):
        for city in CITIES:
            others = [other for other in CITIES if other != city][:4]
            texts = [(first.format(city=each), second.format(city=each)) for each in (city, *others)]
            yield case(*texts, cluster=f"{first} {second}")


# Robustness


@suite.invariance(capability="robustness")
def a_typo_changes_nothing() -> Iterator[Case]:
    """Two letters that change places in one of the questions leave the prediction alone."""
    rng = np.random.default_rng(3)
    for first, second, template in pairs(*SAME, *OTHER):
        yield case((first, second), (perturb.swap_letters(first, rng), second), cluster=template)


@suite.invariance(capability="robustness")
def the_order_of_the_questions_changes_nothing() -> Iterator[Case]:
    """Asking the same is symmetric."""
    for first, second, template in pairs(*SAME, *OTHER):
        yield case((first, second), (second, first), cluster=template)


@suite.invariance(capability="robustness")
def contractions_change_nothing() -> Iterator[Case]:
    """A short form such as "what's" says what the long one says."""
    for first, second, template in pairs(SAME[0], SAME[2], OTHER[2]):
        yield case((first, second), (first, perturb.contract(second)), cluster=template)


@suite.invariance(capability="robustness")
def politeness_changes_nothing() -> Iterator[Case]:
    """A greeting or a word of thanks is no part of the question."""
    for first, second, template in pairs(*SAME, *OTHER):
        polite = (perturb.add_before(first, "Hello everyone."), perturb.add_after(first, "Many thanks!"))
        yield case((first, second), *((text, second) for text in polite), cluster=template)


@suite.invariance(capability="robustness")
def the_question_mark_changes_nothing() -> Iterator[Case]:
    """A question without its mark asks the same."""
    for first, second, template in pairs(*SAME, *OTHER):
        bare = perturb.strip_punctuation
        yield case((first, second), (bare(first), second), (bare(first), bare(second)), cluster=template)
