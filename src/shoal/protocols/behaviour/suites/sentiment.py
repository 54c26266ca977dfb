"""A sentiment suite: what a reader of reviews should get right beyond the words of praise and blame."""

from collections.abc import Iterator

import numpy as np

from ....records import Case
from .. import perturb
from ..suite import Suite, case
from .wording import an, some_of

THINGS = ("film", "meal", "hotel", "concert", "phone", "novel", "flight", "museum", "jacket", "course")
"""What is judged; each can be good or bad in the plain sense of the words below."""

PRAISE = ("great", "lovely", "superb", "excellent", "wonderful", "brilliant", "delightful", "fantastic")
BLAME = ("awful", "terrible", "dreadful", "horrible", "disappointing", "lousy", "miserable", "pathetic")
RARE_PRAISE = ("exquisite", "sublime", "stellar", "marvellous", "magnificent", "top-notch")
RARE_BLAME = ("abysmal", "atrocious", "appalling", "shoddy", "godawful", "deplorable")
PLAIN = ("blue", "wooden", "Italian", "two-year-old", "large", "second-hand")
"""Words that describe and do not judge."""

LIKING = ("love", "enjoy", "adore", "recommend")
DISLIKING = ("hate", "regret", "despise", "detest")
LIKED = ("loved", "enjoyed", "adored", "admired")
DISLIKED = ("hated", "regretted", "despised", "detested")

JUDGED = [(word, "positive") for word in PRAISE] + [(word, "negative") for word in BLAME]
"""Each word of praise and blame with the label it makes."""

OPPOSITE = {"positive": "negative", "negative": "positive"}

suite = Suite("sentiment", ("negative", "neutral", "positive"), task="sentiment", version="1")


def judged(n: int, *templates: str) -> Iterator[tuple[str, str, str]]:
    """n sentences with a thing and a judging word in them, as (sentence, label, template)."""
    for template, thing, word in some_of(n, templates, THINGS, [word for word, _ in JUDGED]):
        yield template.format(thing=thing, word=word, a_word=an(word)), dict(JUDGED)[word], template


def opinions(n: int) -> Iterator[tuple[str, str, str]]:
    """n plain opinions, for tests that change something about them."""
    yield from judged(n, "The {thing} was {word}.", "It is {a_word} {thing}, in my view.")


# Vocabulary


@suite.minimum(capability="vocabulary")
def praise_is_positive() -> Iterator[Case]:
    """A plain sentence with a word of praise is positive."""
    templates = ("This is {a_word} {thing}.", "That {thing} is {word}.")
    for template, thing, word in some_of(60, templates, THINGS, PRAISE):
        yield case(
            template.format(thing=thing, word=word, a_word=an(word)), label="positive", cluster=template
        )


@suite.minimum(capability="vocabulary")
def blame_is_negative() -> Iterator[Case]:
    """A plain sentence with a word of blame is negative."""
    templates = ("This is {a_word} {thing}.", "That {thing} is {word}.")
    for template, thing, word in some_of(60, templates, THINGS, BLAME):
        yield case(
            template.format(thing=thing, word=word, a_word=an(word)), label="negative", cluster=template
        )


@suite.minimum(capability="vocabulary")
def rarer_words_judge_as_well() -> Iterator[Case]:
    """Less common words of praise and blame are understood."""
    for thing, word in some_of(60, THINGS, RARE_PRAISE + RARE_BLAME):
        label = "positive" if word in RARE_PRAISE else "negative"
        yield case(f"Their {thing} is {word}.", label=label, cluster=word)


@suite.minimum(capability="vocabulary")
def verbs_carry_the_opinion() -> Iterator[Case]:
    """Liking and disliking can be said by the verb alone."""
    for thing, verb in some_of(60, THINGS, LIKING + DISLIKING):
        label = "positive" if verb in LIKING else "negative"
        yield case(f"I {verb} this {thing}.", label=label, cluster=verb)


@suite.minimum(capability="vocabulary")
def plain_facts_are_neutral() -> Iterator[Case]:
    """A statement without an opinion is neutral."""
    templates = (
        "This is {a_word} {thing}.",
        "The {thing} belongs to {who}.",
        "{who} has {a_word} {thing}.",
    )
    for template, thing, word, who in some_of(
        60, templates, THINGS, PLAIN, ("my aunt", "Emil", "our club")
    ):
        text = template.format(thing=thing, word=word, a_word=an(word), who=who)
        yield case(text[0].upper() + text[1:], label="neutral", cluster=template)


@suite.directional(
    capability="vocabulary", expect="not less confident", na_if="original pred is neutral"
)
def intensifiers_strengthen() -> Iterator[Case]:
    """Adding "really" or "absolutely" to an opinion does not make it less certain."""
    for text, _, template in judged(60, "The {thing} was {word}.", "My {thing} is {word}."):
        variants = [text.replace(verb, f"{verb} {word}") for word in ("really", "absolutely", "truly")
                    for verb in (" was", " is") if f"{verb} " in text]  # fmt: skip
        yield case(text, *variants, cluster=template)


@suite.directional(
    capability="vocabulary", expect="not more confident", na_if="original pred is neutral"
)
def hedges_weaken() -> Iterator[Case]:
    """Adding "slightly" or "more or less" to an opinion does not make it more certain."""
    for text, _, template in judged(60, "The {thing} was {word}.", "My {thing} is {word}."):
        variants = [text.replace(verb, f"{verb} {word}") for word in ("slightly", "more or less", "a little")
                    for verb in (" was", " is") if f"{verb} " in text]  # fmt: skip
        yield case(text, *variants, cluster=template)


@suite.directional(capability="vocabulary", expect="not more negative")
def further_praise_does_not_hurt() -> Iterator[Case]:
    """Adding a sentence of praise never makes a text more negative."""
    for text, _, template in opinions(60):
        yield case(text, *(perturb.add_after(text, more) for more in ADDED_PRAISE), cluster=template)


@suite.directional(capability="vocabulary", expect="not more positive")
def further_blame_does_not_help() -> Iterator[Case]:
    """Adding a sentence of blame never makes a text more positive."""
    for text, _, template in opinions(60):
        yield case(text, *(perturb.add_after(text, more) for more in ADDED_BLAME), cluster=template)


ADDED_PRAISE = ("I am so happy with it.", "You are the best.", "Highly recommended.")
ADDED_BLAME = ("I am so unhappy with it.", "You are the worst.", "Never again.")


@suite.minimum(capability="vocabulary")
def superlatives_and_comparisons_judge() -> Iterator[Case]:
    """Saying that others are better is blame, and that others are worse is praise."""
    templates = {
        "I have never had a better {thing}.": "positive",
        "No {thing} has been better than this one.": "positive",
        "You will hardly find a worse {thing}.": "negative",
        "Almost every other {thing} is better than this one.": "negative",
        "Almost every other {thing} is worse than this one.": "positive",
        "No {thing} has been worse than this one.": "negative",
    }
    for template, thing in some_of(60, tuple(templates), THINGS):
        yield case(template.format(thing=thing), label=templates[template], cluster=template)


# Robustness


@suite.invariance(capability="robustness")
def a_typo_changes_nothing() -> Iterator[Case]:
    """Two letters changing places somewhere leave the prediction alone."""
    rng = np.random.default_rng(1)
    for text, _, template in opinions(60):
        variants = dict.fromkeys(perturb.swap_letters(text, rng) for _ in range(3))
        yield case(text, *variants, cluster=template)


@suite.invariance(capability="robustness")
def several_typos_change_nothing() -> Iterator[Case]:
    """Three swaps of neighbouring letters are still readable."""
    rng = np.random.default_rng(2)
    for text, _, template in opinions(60):
        variants = {perturb.swap_letters(text, rng, times=3): None for _ in range(3)}
        variants.pop(text, None)
        yield case(text, *variants, cluster=template)


@suite.invariance(capability="robustness")
def the_end_mark_changes_nothing() -> Iterator[Case]:
    """Full stop, exclamation mark or nothing at the end: the same opinion."""
    for text, _, template in opinions(60):
        yield case(text, *perturb.vary_punctuation(text), cluster=template)


@suite.invariance(capability="robustness")
def contractions_change_nothing() -> Iterator[Case]:
    """ "It's" says what "it is" says."""
    templates = ("It is {a_word} {thing} and we are telling everyone.", "I am sure that it is {a_word} {thing}.",
                 "They are known for it: {a_word} {thing}.", "We have seen it, and it is {a_word} {thing}.")  # fmt: skip
    for text, _, template in judged(60, *templates):
        yield case(text, perturb.contract(text), cluster=template)


@suite.invariance(capability="robustness")
def handles_and_links_change_nothing() -> Iterator[Case]:
    """A user name in front or a link behind is no opinion."""
    rng = np.random.default_rng(3)
    for text, _, template in opinions(60):
        yield case(text, *perturb.add_noise(text, rng), cluster=template)


@suite.invariance(capability="robustness")
def a_remark_aside_changes_nothing() -> Iterator[Case]:
    """A sentence about something else is no opinion."""
    asides = ("It was a Tuesday.", "My cousin came along.", "We took the 14 bus.")
    for text, _, template in opinions(60):
        yield case(text, *(perturb.add_after(text, aside) for aside in asides), cluster=template)


@suite.invariance(capability="robustness")
def capitals_change_nothing() -> Iterator[Case]:
    """The same sentence in small letters or in capitals."""
    for text, _, template in opinions(40):
        yield case(text, text.lower(), text.upper(), cluster=template)


# Negation


@suite.minimum(capability="negation")
def negated_praise_is_negative() -> Iterator[Case]:
    """Negating a positive statement makes it negative."""
    templates = (
        "The {thing} was not {word}.",
        "This is not {a_word} {thing}.",
        "I do not think it is {a_word} {thing}.",
    )
    for template, thing, word in some_of(80, templates, THINGS, PRAISE):
        yield case(
            template.format(thing=thing, word=word, a_word=an(word)), label="negative", cluster=template
        )


@suite.minimum(capability="negation")
def negated_blame_is_not_negative() -> Iterator[Case]:
    """Negating a negative statement makes it positive or neutral."""
    templates = (
        "The {thing} was not {word}.",
        "This is not {a_word} {thing}.",
        "I do not think it is {a_word} {thing}.",
    )
    for template, thing, word in some_of(80, templates, THINGS, BLAME):
        yield case(
            template.format(thing=thing, word=word, a_word=an(word)),
            label="not_negative",
            cluster=template,
        )


@suite.minimum(capability="negation")
def negated_facts_are_neutral() -> Iterator[Case]:
    """Negating a statement without an opinion leaves it neutral."""
    for thing, word in some_of(60, THINGS, PLAIN):
        yield case(f"This is not {an(word)} {thing}.", label="neutral", cluster=word)


@suite.minimum(capability="negation")
def short_negation_is_seen() -> Iterator[Case]:
    """ "Isn't" and "wasn't" negate as "not" does."""
    for template, thing, word in some_of(
        60, ("That {thing} wasn't {word}.", "It isn't {a_word} {thing}."), THINGS, PRAISE
    ):
        yield case(
            template.format(thing=thing, word=word, a_word=an(word)), label="negative", cluster=template
        )


@suite.minimum(capability="negation")
def negation_at_the_end_is_seen() -> Iterator[Case]:
    """The verdict may come last: "I expected a great film, but it was not"."""
    for thing, word in some_of(60, THINGS, PRAISE):
        yield case(
            f"I thought the {thing} would be {word}, but it was not.", label="negative", cluster=word
        )


@suite.minimum(capability="negation")
def negation_reaches_over_an_aside() -> Iterator[Case]:
    """Words between "not" and the praise do not cut them apart."""
    asides = (
        "given how long we waited for it,",
        "after all that I had read,",
        "having been there with my family,",
    )
    for aside, thing, word in some_of(60, asides, THINGS, PRAISE):
        yield case(
            f"I cannot say, {aside} that the {thing} was {word}.", label="negative", cluster=aside
        )


@suite.minimum(capability="negation")
def nobody_and_nothing_negate() -> Iterator[Case]:
    """Negation can sit in the subject: nobody, nothing, none."""
    templates = ("Nobody called this {thing} {word}.", "Nothing about this {thing} is {word}.",
                 "None of us found the {thing} {word}.")  # fmt: skip
    for template, thing, word in some_of(60, templates, THINGS, PRAISE):
        yield case(template.format(thing=thing, word=word), label="negative", cluster=template)


@suite.directional(
    capability="negation", expect="not more positive", na_if="original pred is not positive"
)
def adding_not_to_praise_does_not_help() -> Iterator[Case]:
    """Putting "not" into a sentence of praise does not make it more positive."""
    for thing, word in some_of(60, THINGS, PRAISE):
        text = f"The {thing} was {word}."
        yield case(text, str(perturb.negate(text)), cluster=word)


# Temporal


@suite.minimum(capability="temporal")
def the_present_opinion_counts() -> Iterator[Case]:
    """What someone thinks now counts, not what they used to think, whichever is said last."""
    templates = ("I used to {before} this {thing}, but now I {now} it.",
                 "I {now} this {thing} now, although I used to {before} it.",
                 "Years ago I would {before} such a {thing}; these days I {now} it.")  # fmt: skip
    pairs = [f"{a} {b}" for a in LIKING for b in DISLIKING] + [
        f"{b} {a}" for a in LIKING for b in DISLIKING
    ]
    for template, thing, pair in some_of(80, templates, THINGS, pairs):
        before, now = pair.split()
        label = "positive" if now in LIKING else "negative"
        yield case(template.format(before=before, now=now, thing=thing), label=label, cluster=template)


@suite.minimum(capability="temporal")
def things_change_for_better_or_worse() -> Iterator[Case]:
    """The state of things today decides."""
    for thing, good, bad in some_of(40, THINGS, PRAISE, BLAME):
        yield case(
            f"The {thing} was {bad} last year, but today it is {good}.",
            label="positive",
            cluster="better",
        )
        yield case(
            f"The {thing} was {good} last year, but today it is {bad}.",
            label="negative",
            cluster="worse",
        )


@suite.directional(capability="temporal", expect="not more confident", na_if="original pred is neutral")
def a_past_opinion_is_weaker() -> Iterator[Case]:
    """Prefixing "I used to think" does not raise confidence."""
    for text, _, template in opinions(60):
        phrases = ("I used to think", "Years ago I would have said")
        yield case(text, *(perturb.add_before(text, phrase) for phrase in phrases), cluster=template)


# Roles: who thinks what of what


@suite.minimum(capability="roles")
def the_author_counts_more_than_others() -> Iterator[Case]:
    """When others disagree with the author, the author's opinion is the text's."""
    templates = ("Some people call the {thing} {theirs}, but I find it {mine}.",
                 "I find the {thing} {mine}, whatever my friends say about it being {theirs}.",
                 "My sister says the {thing} is {theirs}; for me it is {mine}.")  # fmt: skip
    for template, thing, good, bad in some_of(40, templates, THINGS, PRAISE, BLAME):
        yield case(
            template.format(thing=thing, mine=good, theirs=bad), label="positive", cluster=template
        )
        yield case(
            template.format(thing=thing, mine=bad, theirs=good), label="negative", cluster=template
        )


@suite.minimum(capability="roles")
def yes_and_no_answer_the_question() -> Iterator[Case]:
    """A question about an opinion, answered with yes or no, is that opinion or its opposite."""
    for text, label, template in judged(
        40, "Was the {thing} {word}?", "Do I think it is {a_word} {thing}?"
    ):
        yield case(f"{text} Yes.", label=label, cluster=f"{template} Yes.")
        answer = "negative" if label == "positive" else "not_negative"
        yield case(f"{text} No.", label=answer, cluster=f"{template} No.")


@suite.minimum(capability="roles")
def hopes_are_not_opinions() -> Iterator[Case]:
    """What was hoped for or feared is not what was found."""
    for thing, good, bad in some_of(40, THINGS, PRAISE, BLAME):
        yield case(
            f"We hoped for {an(good)} {thing} and were given {an(bad)} one.",
            label="negative",
            cluster="hope",
        )
        yield case(
            f"We feared {an(bad)} {thing} and were given {an(good)} one.",
            label="positive",
            cluster="fear",
        )


# Coreference


@suite.minimum(capability="coreference")
def the_latter_is_the_second_named() -> Iterator[Case]:
    """ "The former" and "the latter" point at one of two things judged before."""
    for first, second, good, bad in some_of(40, THINGS[:5], THINGS[5:], PRAISE[:4], BLAME[:4]):
        text = f"The {first} was {good} and the {second} was {bad}. My review is about the"
        yield case(f"{text} former.", label="positive", cluster="former")
        yield case(f"{text} latter.", label="negative", cluster="latter")


@suite.minimum(capability="coreference")
def this_one_is_not_the_other_one() -> Iterator[Case]:
    """The thing under review is judged, not the one it is compared with."""
    for thing, good, bad in some_of(40, THINGS, PRAISE, BLAME):
        yield case(
            f"The other {thing} was {bad}; this one is {good}.", label="positive", cluster="other first"
        )
        yield case(
            f"This {thing} is {bad}; the other one was {good}.", label="negative", cluster="this first"
        )


# Fairness

PEOPLE = ("nurse", "teacher", "neighbour", "driver", "student", "chef", "lawyer", "farmer")
NEWS = ("Our {who} moved to the second floor.", "A {who} opened the door.", "The {who} and I talked about the weather.",
        "I met a {who} at the library.", "The {who} gave a lovely speech.")  # fmt: skip


def described(*kinds: str) -> Iterator[Case]:
    """Sentences about someone, and the same with each of these words before the person."""
    for news, person in some_of(40, NEWS, PEOPLE):
        text = news.format(who=person)
        yield case(text, *(news.format(who=f"{kind} {person}") for kind in kinds), cluster=news)


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
    yield from described("gay", "lesbian", "straight", "bisexual", "transgender", "queer")


@suite.invariance(capability="fairness")
def age_and_body_change_nothing() -> Iterator[Case]:
    """Naming someone's age or disability leaves the prediction alone."""
    yield from described("young", "blind", "deaf", "retired", "disabled", "elderly")


@suite.invariance(capability="fairness")
def gender_changes_nothing() -> Iterator[Case]:
    """He or she, his or her: the same opinion."""
    templates = (
        "{she} told us about {her} {thing}, and it was {word}.",
        "{she} lent me {her} {word} {thing}.",
    )
    for template, thing, word in some_of(60, templates, THINGS, PRAISE + BLAME):
        texts = [template.format(she=she, her=her, thing=thing, word=word)
                 for she, her in (("She", "her"), ("He", "his"), ("They", "their"))]  # fmt: skip
        yield case(*texts, cluster=template)


# Named entities


@suite.invariance(capability="named entities")
def another_name_changes_nothing() -> Iterator[Case]:
    """The same opinion about, or from, someone of another name."""
    rng = np.random.default_rng(4)
    templates = (
        "{name} chose the {thing}, and it was {word}.",
        "{name} and I agree that the {thing} is {word}.",
    )
    for template, name, thing, word in some_of(
        60, templates, ("Marta", "Jonas", "Divya"), THINGS, PRAISE + BLAME
    ):
        text = template.format(name=name, thing=thing, word=word)
        yield case(text, *(change.text for change in perturb.change_names(text, rng)), cluster=template)


@suite.invariance(capability="named entities")
def another_place_changes_nothing() -> Iterator[Case]:
    """The same opinion in another city or country."""
    rng = np.random.default_rng(5)
    templates = ("The {thing} in {place} was {word}.", "Back from {place}: {a_word} {thing}.")
    for template, place, thing, word in some_of(
        60, templates, ("Lisbon", "Kyoto", "Kenya"), THINGS, PRAISE + BLAME
    ):
        text = template.format(place=place, thing=thing, word=word, a_word=an(word))
        yield case(text, *(change.text for change in perturb.change_places(text, rng)), cluster=template)


@suite.invariance(capability="named entities")
def another_number_changes_nothing() -> Iterator[Case]:
    """The same opinion with a slightly different number in it."""
    rng = np.random.default_rng(6)
    templates = (
        "After {n} minutes I knew that the {thing} was {word}.",
        "The {n} of us found the {thing} {word}.",
    )
    for template, n, thing, word in some_of(60, templates, ("15", "25", "40"), THINGS, PRAISE + BLAME):
        text = template.format(n=n, thing=thing, word=word)
        yield case(
            text, *(change.text for change in perturb.change_numbers(text, rng)), cluster=template
        )
