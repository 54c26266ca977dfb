"""A sentiment suite: abilities of a reader of reviews beyond the words of praise and blame."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ....core.records import Case
from .. import perturb
from ..suite import Suite, case
from . import an, some_of

THINGS = ("film", "meal", "hotel", "concert", "phone", "novel", "flight", "museum", "jacket", "course")
PRAISE = ("great", "lovely", "superb", "excellent", "wonderful", "brilliant", "delightful", "fantastic")
BLAME = ("awful", "terrible", "dreadful", "horrible", "disappointing", "lousy", "miserable", "pathetic")
RARE_PRAISE = ("exquisite", "sublime", "stellar", "marvellous", "magnificent", "top-notch")
RARE_BLAME = ("abysmal", "atrocious", "appalling", "shoddy", "godawful", "deplorable")
LIKING = ("love", "enjoy", "adore", "recommend")
DISLIKING = ("hate", "dislike", "despise", "detest")

OBJECTS = ("phone", "jacket", "novel", "suitcase", "lamp", "guitar")
PLAIN = ("blue", "Italian", "grey", "two-year-old", "second-hand", "borrowed")
"""Words that describe and do not judge."""

suite = Suite("sentiment", ("negative", "neutral", "positive"), task="sentiment", version="1")


class Opinion(NamedTuple):
    """A sentence with a thing and a word that judges it."""

    text: str
    label: str
    template: str


def opinions(n: int, templates: Sequence[str], words: Sequence[str] = PRAISE + BLAME) -> Iterator[Opinion]:
    """n sentences from templates with the slots {thing} and {word}, or {a_word} for "an awful"."""
    for template, thing, word in some_of(n, templates, THINGS, words):
        text = template.format(thing=thing, word=word, a_word=an(word))
        yield Opinion(text, "positive" if word in PRAISE else "negative", template)


def labelled(label: str, n: int, templates: Sequence[str], words: Sequence[str]) -> Iterator[Case]:
    """n sentences that all have this label."""
    for text, _, template in opinions(n, templates, words):
        yield case(text, label=label, cluster=template)


OPPOSITE = {"positive": "negative", "negative": "not_negative"}
SIMPLE = ("The {thing} was {word}.", "It is {a_word} {thing}, in my view.")
"""Opinions to which something is done in the tests of invariance and direction."""


# Vocabulary

PLAINLY = ("This is {a_word} {thing}.", "That {thing} is {word}.")


@suite.minimum(capability="vocabulary")
def praise_is_positive() -> Iterator[Case]:
    """A plain sentence with a word of praise is positive."""
    yield from labelled("positive", 60, PLAINLY, PRAISE)


@suite.minimum(capability="vocabulary")
def blame_is_negative() -> Iterator[Case]:
    """A plain sentence with a word of blame is negative."""
    yield from labelled("negative", 60, PLAINLY, BLAME)


@suite.minimum(capability="vocabulary")
def rarer_words_judge_as_well() -> Iterator[Case]:
    """Less common words of praise and blame are understood."""
    for thing, word in some_of(60, THINGS, RARE_PRAISE + RARE_BLAME):
        label = "positive" if word in RARE_PRAISE else "negative"
        yield case(f"Their {thing} is {word}.", label=label, cluster="Their … is …")


@suite.minimum(capability="vocabulary")
def verbs_carry_the_opinion() -> Iterator[Case]:
    """Liking and disliking can be said by the verb alone."""
    for thing, verb in some_of(60, THINGS, LIKING + DISLIKING):
        label = "positive" if verb in LIKING else "negative"
        yield case(f"I {verb} this {thing}.", label=label, cluster="I … this …")


@suite.minimum(capability="vocabulary")
def plain_facts_are_neutral() -> Iterator[Case]:
    """A statement without an opinion is neutral."""
    for who, thing, word in some_of(30, ("Keiko", "Emil", "Samir"), OBJECTS, PLAIN):
        yield case(f"{who} has {an(word)} {thing}.", label="neutral", cluster="… has a …")
        yield case(f"The {word} {thing} belongs to {who}.", label="neutral", cluster="The … belongs to …")


@suite.minimum(capability="vocabulary")
def comparisons_judge() -> Iterator[Case]:
    """Saying that others are better is blame; that others are worse is praise."""
    templates = {
        "I have never known a better {thing}.": "positive",
        "Almost every other {thing} is worse than this one.": "positive",
        "No {thing} has been better than this one.": "positive",
        "You will hardly find a worse {thing}.": "negative",
        "Almost every other {thing} is better than this one.": "negative",
        "No {thing} has been worse than this one.": "negative",
    }
    for template, thing in some_of(60, tuple(templates), THINGS):
        yield case(template.format(thing=thing), label=templates[template], cluster=template)


def with_adverbs(*adverbs: str) -> Iterator[Case]:
    """Opinions, and the same with each of these before the word that judges."""
    templates = ("The {thing} was {word}.", "My {thing} is {word}.")
    for template, thing, word in some_of(60, templates, THINGS, PRAISE + BLAME):
        words = (word, *(f"{adverb} {word}" for adverb in adverbs))
        yield case(*(template.format(thing=thing, word=each) for each in words), cluster=template)


@suite.directional(capability="vocabulary", expect="not less confident", na_if="original pred is neutral")
def intensifiers_strengthen() -> Iterator[Case]:
    """Adding "really" or "absolutely" to an opinion does not make it less certain."""
    yield from with_adverbs("really", "absolutely", "truly")


@suite.directional(capability="vocabulary", expect="not more confident", na_if="original pred is neutral")
def hedges_weaken() -> Iterator[Case]:
    """Adding "sort of" or "more or less" to an opinion does not make it more certain."""
    yield from with_adverbs("sort of", "more or less", "somewhat")


def followed_by(*sentences: str) -> Iterator[Case]:
    """Opinions, and the same with each of these sentences after them."""
    for text, _, template in opinions(60, SIMPLE):
        yield case(text, *(perturb.add_after(text, more) for more in sentences), cluster=template)


@suite.directional(capability="vocabulary", expect="not more negative")
def further_praise_does_not_hurt() -> Iterator[Case]:
    """Adding a sentence of praise never makes a text more negative."""
    yield from followed_by("I am so happy with it.", "You are the best.", "Highly recommended.")


@suite.directional(capability="vocabulary", expect="not more positive")
def further_blame_does_not_help() -> Iterator[Case]:
    """Adding a sentence of blame never makes a text more positive."""
    yield from followed_by("I am so unhappy with it.", "You are the worst.", "Never again.")


# Robustness


def with_typos(times: int, seed: int) -> Iterator[Case]:
    """Opinions, and the same with this many swaps of neighbouring letters, three times."""
    rng = np.random.default_rng(seed)
    for text, _, template in opinions(60, SIMPLE):
        typos = dict.fromkeys(perturb.swap_letters(text, rng, times) for _ in range(3))
        yield case(text, *typos, cluster=template)


@suite.invariance(capability="robustness")
def a_typo_changes_nothing() -> Iterator[Case]:
    """Two letters that change places leave the prediction alone."""
    yield from with_typos(1, seed=1)


@suite.invariance(capability="robustness")
def three_typos_change_nothing() -> Iterator[Case]:
    """Three swaps of neighbouring letters are still readable."""
    yield from with_typos(3, seed=2)


@suite.invariance(capability="robustness")
def the_end_mark_changes_nothing() -> Iterator[Case]:
    """Full stop, exclamation mark or nothing at the end: the same opinion."""
    for text, _, template in opinions(60, SIMPLE):
        yield case(text, *perturb.vary_punctuation(text), cluster=template)


@suite.invariance(capability="robustness")
def contractions_change_nothing() -> Iterator[Case]:
    """A short form such as "it's" says what the long one says."""
    templates = (
        "It is {a_word} {thing} and we are telling everyone.",
        "I am sure that it is {a_word} {thing}.",
        "We have seen the {thing}, and it is {word}.",
    )
    for text, _, template in opinions(60, templates):
        yield case(text, perturb.contract(text), cluster=template)


@suite.invariance(capability="robustness")
def handles_and_links_change_nothing() -> Iterator[Case]:
    """A user name in front or a link behind is no opinion."""
    rng = np.random.default_rng(3)
    for text, _, template in opinions(60, SIMPLE):
        yield case(text, *perturb.add_noise(text, rng), cluster=template)


@suite.invariance(capability="robustness")
def a_remark_aside_changes_nothing() -> Iterator[Case]:
    """A sentence about something else is no opinion."""
    yield from followed_by("It was a Tuesday.", "My cousin came along.", "We took the 14 bus.")


@suite.invariance(capability="robustness")
def capitals_change_nothing() -> Iterator[Case]:
    """The same sentence in small letters, and in capitals."""
    for text, _, template in opinions(40, SIMPLE):
        yield case(text, text.lower(), text.upper(), cluster=template)


# Negation

NEGATED = (
    "The {thing} was not {word}.",
    "This is not {a_word} {thing}.",
    "I do not think it is {a_word} {thing}.",
)


@suite.minimum(capability="negation")
def negated_praise_is_negative() -> Iterator[Case]:
    """Negating a positive statement makes it negative."""
    yield from labelled("negative", 80, NEGATED, PRAISE)


@suite.minimum(capability="negation")
def negated_blame_is_not_negative() -> Iterator[Case]:
    """Negating a negative statement makes it positive or neutral."""
    yield from labelled("not_negative", 80, NEGATED, BLAME)


@suite.minimum(capability="negation")
def negated_facts_are_neutral() -> Iterator[Case]:
    """Negating a statement without an opinion leaves it neutral."""
    for thing, word in some_of(60, OBJECTS, PLAIN):
        yield case(f"This is not {an(word)} {thing}.", label="neutral", cluster="This is not a …")


@suite.minimum(capability="negation")
def short_negation_is_seen() -> Iterator[Case]:
    """The short forms "isn't" and "wasn't" negate as "not" does."""
    templates = ("That {thing} wasn't {word}.", "It isn't {a_word} {thing}.")
    yield from labelled("negative", 60, templates, PRAISE)


@suite.minimum(capability="negation")
def negation_at_the_end_is_seen() -> Iterator[Case]:
    """The verdict may come last: "I thought the film would be great, but it was not"."""
    for text, label, template in opinions(60, ("I thought the {thing} would be {word}, but it was not.",)):
        yield case(text, label=OPPOSITE[label], cluster=template)


@suite.minimum(capability="negation")
def negation_reaches_over_an_aside() -> Iterator[Case]:
    """Words between "not" and the praise do not cut them apart."""
    templates = (
        "I cannot say, given how long we waited for it, that the {thing} was {word}.",
        "I cannot say, after all that I had read, that the {thing} was {word}.",
        "I would not, having spent a day with it, call this {thing} {word}.",
    )
    yield from labelled("negative", 60, templates, PRAISE)


@suite.minimum(capability="negation")
def nobody_and_nothing_negate() -> Iterator[Case]:
    """Negation can sit in the subject: nobody, nothing, none."""
    templates = (
        "Nobody called this {thing} {word}.",
        "Nothing about this {thing} is {word}.",
        "None of us found the {thing} {word}.",
    )
    yield from labelled("negative", 60, templates, PRAISE)


@suite.directional(capability="negation", expect="not more positive", na_if="original pred is not positive")
def adding_not_to_praise_does_not_help() -> Iterator[Case]:
    """Putting "not" into a sentence of praise does not make it more positive."""
    for text, _, template in opinions(60, ("The {thing} was {word}.", "My {thing} is {word}."), PRAISE):
        if negated := perturb.negate(text):
            yield case(text, negated, cluster=template)


# Temporal


@suite.minimum(capability="temporal")
def the_present_opinion_counts() -> Iterator[Case]:
    """What someone thinks now counts, not what they used to think, whichever is said last."""
    templates = (
        "I used to {before} this {thing}, but now I {now} it.",
        "I {now} this {thing} now, although I used to {before} it.",
        "Years ago I would {before} such a {thing}; these days I {now} it.",
    )
    for template, thing, like, dislike in some_of(40, templates, THINGS, LIKING, DISLIKING):
        yield case(template.format(thing=thing, before=dislike, now=like), label="positive", cluster=template)
        yield case(template.format(thing=thing, before=like, now=dislike), label="negative", cluster=template)


@suite.minimum(capability="temporal")
def things_change_for_better_or_worse() -> Iterator[Case]:
    """The state of things today decides."""
    for thing, good, bad in some_of(40, THINGS, PRAISE, BLAME):
        for before, now, label in ((bad, good, "positive"), (good, bad, "negative")):
            text = f"The {thing} was {before} last year, but today it is {now}."
            yield case(text, label=label, cluster="last year, today")


@suite.directional(capability="temporal", expect="not more confident", na_if="original pred is neutral")
def a_past_opinion_is_weaker() -> Iterator[Case]:
    """Prefixing "I used to think" does not raise confidence."""
    for text, _, template in opinions(60, SIMPLE):
        phrases = ("I used to think that", "Years ago I would have said that")
        yield case(text, *(perturb.add_before(text, phrase) for phrase in phrases), cluster=template)


# Roles: who thinks what of what


@suite.minimum(capability="roles")
def the_author_counts_more_than_others() -> Iterator[Case]:
    """When others disagree with the author, the author's opinion is the text's."""
    templates = (
        "Some people call the {thing} {theirs}, but I find it {mine}.",
        "I find the {thing} {mine}, whatever my friends say about it being {theirs}.",
        "My sister says the {thing} is {theirs}; for me it is {mine}.",
    )
    for template, thing, good, bad in some_of(40, templates, THINGS, PRAISE, BLAME):
        yield case(template.format(thing=thing, mine=good, theirs=bad), label="positive", cluster=template)
        yield case(template.format(thing=thing, mine=bad, theirs=good), label="negative", cluster=template)


@suite.minimum(capability="roles")
def yes_and_no_answer_the_question() -> Iterator[Case]:
    """A question about an opinion, answered with yes or no, is that opinion or its opposite."""
    questions = ("Was the {thing} {word}?", "Do I think it is {a_word} {thing}?")
    for text, label, template in opinions(40, questions):
        yield case(f"{text} Yes.", label=label, cluster=template)
        yield case(f"{text} No.", label=OPPOSITE[label], cluster=template)


@suite.minimum(capability="roles")
def hopes_are_not_opinions() -> Iterator[Case]:
    """What was hoped for or feared is not what was found."""
    for thing, good, bad in some_of(40, THINGS, PRAISE, BLAME):
        for start, before, now, label in (
            ("We hoped for", good, bad, "negative"),
            ("We feared", bad, good, "positive"),
        ):
            text = f"{start} {an(before)} {thing} and were given {an(now)} one."
            yield case(text, label=label, cluster=start)


# Coreference


@suite.minimum(capability="coreference")
def former_and_latter_are_told_apart() -> Iterator[Case]:
    """The words "the former" and "the latter" point at one of two things judged before."""
    for first, second, good, bad in some_of(40, THINGS[:5], THINGS[5:], PRAISE, BLAME):
        text = f"The {first} was {good} and the {second} was {bad}. My review is about the"
        yield case(f"{text} former.", label="positive", cluster="My review is about the …")
        yield case(f"{text} latter.", label="negative", cluster="My review is about the …")


@suite.minimum(capability="coreference")
def this_one_is_not_the_other_one() -> Iterator[Case]:
    """The thing under review is judged, not the one it is compared with."""
    for thing, good, bad in some_of(40, THINGS, PRAISE, BLAME):
        text = f"The other {thing} was {bad}; this one is {good}."
        yield case(text, label="positive", cluster="The other … was")
        text = f"This {thing} is {bad}; the other one was {good}."
        yield case(text, label="negative", cluster="the other one was …")


# Fairness

PEOPLE = ("nurse", "teacher", "neighbour", "driver", "student", "chef", "lawyer", "farmer")
NEWS = (
    "Our {who} moved to the second floor.",
    "Yesterday {a_who} opened the door.",
    "The {who} and I talked about the weather.",
    "I met {a_who} at the library.",
    "The {who} gave a lovely speech.",
)


def described(*kinds: str) -> Iterator[Case]:
    """Sentences about someone, and the same with each of these words before the person."""
    for news, person in some_of(40, NEWS, PEOPLE):
        people = (person, *(f"{kind} {person}" for kind in kinds))
        yield case(*(news.format(who=who, a_who=an(who)) for who in people), cluster=news)


@suite.invariance(capability="fairness")
def religion_changes_nothing() -> Iterator[Case]:
    """Naming someone's religion leaves the prediction alone."""
    yield from described("Christian", "Muslim", "Jewish", "Hindu", "Buddhist", "Sikh")


@suite.invariance(capability="fairness")
def origin_changes_nothing() -> Iterator[Case]:
    """Naming where someone comes from leaves the prediction alone."""
    yield from described("Nigerian", "Polish", "Mexican", "Turkish", "Chinese", "Syrian")


@suite.invariance(capability="fairness")
def orientation_changes_nothing() -> Iterator[Case]:
    """Naming someone's orientation or gender identity leaves the prediction alone."""
    yield from described("gay", "lesbian", "straight", "bisexual", "transgender", "nonbinary")


@suite.invariance(capability="fairness")
def age_and_disability_change_nothing() -> Iterator[Case]:
    """Naming someone's age or disability leaves the prediction alone."""
    yield from described("young", "blind", "deaf", "retired", "disabled", "elderly")


@suite.invariance(capability="fairness")
def gender_changes_nothing() -> Iterator[Case]:
    """He or she, his or her: the same opinion."""
    templates = ("{she} told us about {her} {thing}: {word}.", "{she} lent me {her} {word} {thing}.")
    for template, thing, word in some_of(60, templates, THINGS, PRAISE + BLAME):
        pronouns = (("She", "her"), ("He", "his"), ("They", "their"))
        texts = (template.format(she=she, her=her, thing=thing, word=word) for she, her in pronouns)
        yield case(*texts, cluster=template)


# Named entities


def renamed(change: perturb.Changer, seed: int, *templates: str) -> Iterator[Case]:
    """Opinions, and the same with another name, place or number."""
    rng = np.random.default_rng(seed)
    for template in templates:
        for text, *_ in opinions(30, (template,)):
            yield case(text, *(changed.text for changed in change(text, rng)), cluster=template)


@suite.invariance(capability="named entities")
def another_name_changes_nothing() -> Iterator[Case]:
    """The same opinion about what someone of another name chose."""
    templates = ("Marta chose the {thing}, and it was {word}.", "Jonas and I agree: the {thing} is {word}.")
    yield from renamed(perturb.change_names, 4, *templates)


@suite.invariance(capability="named entities")
def another_place_changes_nothing() -> Iterator[Case]:
    """The same opinion in another city or country."""
    templates = ("The {thing} in Lisbon was {word}.", "Back from Kenya, and the {thing} was {word}.")
    yield from renamed(perturb.change_places, 5, *templates)


@suite.invariance(capability="named entities")
def another_number_changes_nothing() -> Iterator[Case]:
    """The same opinion with a slightly different number in it."""
    templates = ("After 25 minutes I knew: the {thing} was {word}.", "The 15 of us found the {thing} {word}.")
    yield from renamed(perturb.change_numbers, 6, *templates)
