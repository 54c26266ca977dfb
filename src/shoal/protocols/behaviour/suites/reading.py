"""A reading suite: short passages and questions whose answer depends on one word or on who did what.

Where a case asks two questions of one passage, both must be right: pointing at one place twice does not pass.
Elsewhere each question is a case, and as many answers stand first as last.
"""

from collections.abc import Iterator
from itertools import permutations

import numpy as np

from ....core.records import Case
from .. import perturb
from ..suite import Suite, case
from . import an, some_of

WOMEN = ("Marta", "Elena", "Priya", "Keiko", "Amina")
MEN = ("Jonas", "Omar", "Felix", "Samir", "Bruno")
CITIES = ("Lisbon", "Oslo", "Lima", "Vienna", "Cairo", "Kyoto")
JOBS = ("nurse", "teacher", "lawyer", "farmer", "driver", "judge")
COUPLES = tuple(permutations(WOMEN[:3] + MEN[:3], 2))
TWO_JOBS = tuple(permutations(JOBS, 2))
TURNED = (("taller", "shorter"), ("older", "younger"), ("faster", "slower"))
PAIRED_JOBS = (("nurse", "surgeon"), ("secretary", "pilot"), ("cleaner", "engineer"))

EXACT, WORDS = "exact_string_equal", "squad_normalise"
"""Names are compared letter by letter, other answers without articles and punctuation."""

SAME_ANSWER = "exact_string_equal_to_original_answer"
SAME_AFTER_SWAP = "answer_equals_original_answer_after_same_substitution"

suite = Suite("reading", task="reading comprehension", version="1")


def together(passage: str, answers: dict[str, str], cluster: str) -> Case:
    """Return one case of all questions about a passage, with their answers."""
    questions = [(passage, question) for question in answers]
    return case(*questions, label=list(answers.values()), cluster=cluster)


def singly(passage: str, answers: dict[str, str], cluster: str) -> Iterator[Case]:
    """Yield a case for each question about a passage."""
    for question, answer in answers.items():
        yield case((passage, question), label=answer, cluster=cluster)


# Vocabulary


@suite.minimum(capability="vocabulary", expect=WORDS)
def plain_facts_are_found() -> Iterator[Case]:
    """Where someone lives and what they do, from one plain sentence."""
    for name, city, job in some_of(30, WOMEN + MEN, CITIES, JOBS):
        text = f"{name} lives in {city} and works as {an(job)}."
        answers = {f"Where does {name} live?": city, f"What does {name} do for a living?": job}
        yield from singly(text, answers, "… lives in … and works as a …")


@suite.minimum(capability="vocabulary", expect=EXACT)
def comparisons_are_read() -> Iterator[Case]:
    """Who is taller, and who is shorter, from one comparison."""
    for (one, other), (more, less) in some_of(60, COUPLES, TURNED):
        text = f"{one} is {more} than {other}."
        yield together(text, {f"Who is {more}?": one, f"Who is {less}?": other}, "… is more … than …")


@suite.minimum(capability="vocabulary", expect=EXACT)
def more_and_less_are_told_apart() -> Iterator[Case]:
    """Who does something more, and who less."""
    for (one, other), word in some_of(60, COUPLES, ("patient", "careful", "hopeful")):
        text = f"{one} is less {word} than {other}."
        answers = {f"Who is more {word}?": other, f"Who is less {word}?": one}
        yield together(text, answers, "… is less … than …")


@suite.minimum(capability="vocabulary", expect=WORDS)
def properties_are_of_a_kind() -> Iterator[Case]:
    """A colour, a size and a material of one thing are told apart."""
    things, sizes = ("box", "chair", "bridge", "boat"), ("small", "huge", "tiny")
    for thing, size, colour, stuff in some_of(
        60, things, sizes, ("red", "green", "black"), ("steel", "stone")
    ):
        text = f"Behind the house stands a {size} {colour} {stuff} {thing}."
        answers = {
            f"What size is the {thing}?": size,
            f"What colour is the {thing}?": colour,
            f"What is the {thing} made of?": stuff,
        }
        yield together(text, answers, "Behind the house stands a …")


@suite.minimum(capability="vocabulary", expect=WORDS)
def job_and_origin_are_told_apart() -> Iterator[Case]:
    """What someone does is not where someone is from."""
    for name, job, origin in some_of(30, WOMEN + MEN, JOBS, ("Polish", "Turkish", "Kenyan", "Peruvian")):
        text = f"{name} is {an(f'{origin} {job}')}."
        answers = {f"What is {name}'s job?": job, f"What is {name}'s nationality?": origin}
        yield from singly(text, answers, "… is a …")


# Negation


@suite.minimum(capability="negation", expect=EXACT)
def who_is_not_is_not_who_is() -> Iterator[Case]:
    """The one who is, and the one who is not."""
    for (one, other), job in some_of(60, COUPLES, JOBS):
        text = f"{one} is not {an(job)}. {other} is {an(job)}."
        answers = {f"Who is {an(job)}?": other, f"Who is not {an(job)}?": one}
        yield together(text, answers, "… is not a …. … is a …")


@suite.minimum(capability="negation", expect=WORDS)
def what_was_denied_is_no_answer() -> Iterator[Case]:
    """Where someone lives, when it is also said where they do not."""
    for name, home, away in some_of(30, WOMEN + MEN, CITIES[:3], CITIES[3:]):
        for denied, text in {
            "denied last": f"{name} lives in {home}, not in {away}.",
            "denied first": f"{name} does not live in {away} but in {home}.",
        }.items():
            yield case((text, f"Where does {name} live?"), label=home, cluster=denied)


# Temporal


@suite.minimum(capability="temporal", expect=WORDS)
def now_and_before_are_told_apart() -> Iterator[Case]:
    """What someone used to do is not what they do now."""
    for name, (before, now) in some_of(30, WOMEN + MEN, TWO_JOBS):
        text = f"{name} used to work as {an(before)}, but now works as {an(now)}."
        answers = {f"What is {name}'s job now?": now, f"What was {name}'s job in the past?": before}
        yield from singly(text, answers, "… used to work as a …")


@suite.minimum(capability="temporal", expect=EXACT)
def first_and_last_follow_from_before() -> Iterator[Case]:
    """Who was first, when one came before or after the other."""
    for (one, other), word in some_of(60, COUPLES, ("before", "after")):
        first, last = (one, other) if word == "before" else (other, one)
        text = f"{one} arrived {word} {other}."
        yield together(text, {"Who arrived first?": first, "Who arrived last?": last}, word)


# Coreference


@suite.minimum(capability="coreference", expect=EXACT)
def pronouns_point_at_people() -> Iterator[Case]:
    """She is the woman just named, he the man."""
    for woman, man, (hers, his) in some_of(30, WOMEN, MEN, TWO_JOBS):
        text = f"{man} met {woman} on the train. She is {an(hers)} and he is {an(his)}."
        yield from singly(
            text, {f"Who is {an(hers)}?": woman, f"Who is {an(his)}?": man}, "… met … on the train"
        )


@suite.minimum(capability="coreference", expect=EXACT)
def former_and_latter_point_at_people() -> Iterator[Case]:
    """The former is named first, the latter second."""
    for (one, other), (first, second) in some_of(60, COUPLES, TWO_JOBS):
        text = f"{one} and {other} share a flat. The former is {an(first)}, the latter {an(second)}."
        answers = {f"Who is {an(first)}?": one, f"Who is {an(second)}?": other}
        yield together(text, answers, "… and … share a flat")


# Roles

DEEDS = ("invited", "hired", "thanked", "called")


@suite.minimum(capability="roles", expect=EXACT)
def doer_and_done_to_are_told_apart() -> Iterator[Case]:
    """Who did it, and to whom, in the active voice."""
    for (one, other), deed in some_of(30, COUPLES, DEEDS):
        text = f"{one} {deed} {other} last week."
        yield from singly(text, {f"Who {deed} someone?": one, f"Who was {deed}?": other}, "… … … last week")


@suite.minimum(capability="roles", expect=EXACT)
def the_passive_turns_the_order_round() -> Iterator[Case]:
    """Who did it, and to whom, in the passive voice."""
    for (one, other), deed in some_of(60, COUPLES, DEEDS):
        text = f"{one} was {deed} by {other} last week."
        answers = {f"Who {deed} someone?": other, f"Who was {deed}?": one}
        yield together(text, answers, "… was … by … last week")


@suite.minimum(capability="roles", expect=WORDS)
def two_people_are_told_apart() -> Iterator[Case]:
    """What is said of one person is no answer about the other."""
    for (one, other), (first, second) in some_of(30, COUPLES, TWO_JOBS):
        text = f"{one} works as {an(first)}, whereas {other} works as {an(second)}."
        questions = (f"What does {person} do for a living?" for person in (one, other))
        yield from singly(
            text, dict(zip(questions, (first, second), strict=True)), "… whereas … works as a …"
        )


# Fairness


@suite.minimum(capability="fairness", expect=EXACT)
def jobs_have_no_gender() -> Iterator[Case]:
    """The nurse may be the man and the surgeon the woman, or the other way round."""
    for woman, man, (one, other) in some_of(40, WOMEN, MEN, PAIRED_JOBS):
        texts = (
            f"{woman} is the {one} and {man} the {other}.",
            f"{man} is the {one} and {woman} the {other}.",
        )
        examples = [(text, f"Who is the {job}?") for text in texts for job in (one, other)]
        yield case(*examples, label=[woman, man, man, woman], cluster="… is the … and … the …")


# Tests of invariance: passages to which something is done

PASSAGES = (
    (
        "Ten years ago {name} left {old} and settled in {city}. The move cost {n}00 euros.",
        ("Where does {name} live today?", "How much did the move cost?"),
    ),
    (
        "After years in {old}, {name} opened a bakery in {city}. The bakery has {n} tables.",
        ("Where is {name}'s bakery?", "How many tables does the bakery have?"),
    ),
)


def passages() -> Iterator[tuple[str, str, str]]:
    """Passages, each with one of its questions, and the passage's template."""
    for template, questions in PASSAGES:
        for name, old, city, n in some_of(
            15, ("Marta", "Omar", "Elena"), CITIES[:3], CITIES[3:], ("15", "24")
        ):
            text = template.format(name=name, old=old, city=city, n=n)
            for question in questions:
                yield text, question.format(name=name), template


@suite.invariance(capability="robustness", expect=SAME_ANSWER)
def a_typo_in_the_question_changes_nothing() -> Iterator[Case]:
    """Two letters of the question that change places leave the answer alone."""
    rng = np.random.default_rng(1)
    for text, question, template in passages():
        typos = dict.fromkeys(perturb.swap_letters(question, rng) for _ in range(2))
        yield case((text, question), *((text, typo) for typo in typos), cluster=template)


@suite.invariance(capability="robustness", expect=SAME_ANSWER)
def a_sentence_more_changes_nothing() -> Iterator[Case]:
    """A sentence about something else, before or after the passage, leaves the answer alone."""
    for text, question, template in passages():
        more = "The weather was mild."
        variants = (perturb.add_after(text, more), perturb.add_before(text, more))
        yield case((text, question), *((variant, question) for variant in variants), cluster=template)


@suite.invariance(capability="robustness", expect=SAME_ANSWER)
def a_polite_question_changes_nothing() -> Iterator[Case]:
    """Asked politely, or without a question mark, the question is the same."""
    for text, question, template in passages():
        variants = (perturb.add_before(question, "Please tell me:"), perturb.strip_punctuation(question))
        yield case((text, question), *((text, variant) for variant in variants), cluster=template)


def substituted(change: perturb.Changer, seed: int) -> Iterator[Case]:
    """Passages with a question, and the same with a word replaced in both."""
    rng = np.random.default_rng(seed)
    for text, question, template in passages():
        changes = change(text, rng)
        swaps = [(old, new) for _, old, new in changes]
        variants = [(changed, perturb.change_word(question, old, new)) for changed, old, new in changes]
        yield case((text, question), *variants, details=[None, *swaps], cluster=template)


@suite.invariance(capability="named entities", expect=SAME_AFTER_SWAP)
def another_name_changes_the_answer_alike() -> Iterator[Case]:
    """With another name in passage and question, the answer is the same but for the name."""
    yield from substituted(perturb.change_names, seed=2)


@suite.invariance(capability="named entities", expect=SAME_AFTER_SWAP)
def another_place_changes_the_answer_alike() -> Iterator[Case]:
    """With another place in the passage, the answer is the same but for the place."""
    yield from substituted(perturb.change_places, seed=3)


@suite.invariance(capability="named entities", expect=SAME_AFTER_SWAP)
def another_number_changes_the_answer_alike() -> Iterator[Case]:
    """With another number in the passage, the answer is the same but for the number."""
    yield from substituted(perturb.change_numbers, seed=4)
