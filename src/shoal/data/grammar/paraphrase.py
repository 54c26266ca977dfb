"""Pairs of questions that ask the same thing or not: an intent about a topic, worded in several ways.

Pairs that differ mostly share the topic and differ in intent, as in mined question pairs; few share the intent
and differ in topic alone.
"""

from numpy.random import Generator

from . import Row, draw, pick, pick_two

TOPICS: dict[str, str] = {
    "skill": "the guitar|chess|Spanish|the piano|cooking|swimming|photography|drawing|yoga|juggling|Greek|singing|"
    "sailing|dancing|pottery|tennis|poetry|knitting",
    "place": "Lisbon|Oslo|Vienna|Lima|Seoul|Cairo|Prague|Dublin|Kenya|Peru|Norway|Japan|Riga|Chile|Ghana|Tunis|"
    "Nepal|Madrid",
    "device": "phone|laptop|printer|bicycle|camera|washing machine|fridge|radio|car|toaster|lamp|watch|drill|kettle|"
    "scooter|heater|vacuum cleaner|speaker",
}

OPENINGS = ("", "", "", "Just curious: ", "A friend asks: ", "Quick question: ", "Once more: ")
"""What may stand before a question and means nothing."""

INTENTS: dict[str, dict[str, str]] = {
    "skill": {
        "learn": "How do I learn {}?|What is the best way to get started with {}?|"
        "Where should a beginner start with {}?|How can I teach myself {}?",
        "time": "How long does it take to get good at {}?|How many hours a week do I need for {}?|"
        "How much time must I put into {}?|Does {} take years?",
        "price": "How much do lessons in {} cost?|What is the price of a course in {}?|"
        "Is it expensive to take up {}?|How much money do I need for {}?",
        "living": "Can I earn a living with {}?|Is {} a good career?|Do people get paid for {}?|"
        "How do I make money with {}?",
        "age": "At what age can a child begin with {}?|How old should my daughter be for {}?|"
        "Am I too old for {}?|Are small children ready for {}?",
        "stop": "Why do so many people give up {}?|What makes people stop with {}?|"
        "Why did I lose interest in {}?|Why is it hard to stick with {}?",
    },
    "place": {
        "reach": "What is the quickest route to {}?|How do I travel to {}?|Which trains go to {}?|"
        "How can I get to {} without flying?",
        "season": "When should I visit {}?|Which month is best for a trip to {}?|"
        "What time of year is good for {}?|Is summer the right season for {}?",
        "food": "What do people eat in {}?|Which dishes is {} known for?|Where do I find good food in {}?|"
        "What should I taste in {}?",
        "rent": "How high is the rent in {}?|What does a flat in {} cost per month?|"
        "Is housing expensive in {}?|Can students afford a room in {}?",
        "weather": "Does it rain a lot in {}?|How is the weather in {}?|How cold does {} get?|"
        "Will it be sunny in {}?",
        "safety": "Is {} safe at night?|Can I walk alone in {} after dark?|How dangerous is {}?|"
        "Is there much crime in {}?",
    },
    "device": {
        "repair": "How do I repair my {}?|Who can fix my broken {}?|"
        "What should I do when my {} stops working?|Why does my {} not turn on?",
        "buy": "Which {} should I buy?|What is the best {} in the shops?|Can you suggest a good {}?|"
        "I need a new {}, any ideas?",
        "sell": "Where can I sell my old {}?|How do I get rid of a used {}?|What is my used {} worth?|"
        "Who buys an old {}?",
        "clean": "How do I clean my {}?|What removes dirt from a {}?|Can I wash my {} with soap?|"
        "My {} is dusty, what helps?",
        "history": "Who invented the {}?|When was the first {} built?|What is the history of the {}?|"
        "How did the {} come about?",
        "power": "How much electricity does a {} use?|Does a {} need much power?|"
        "Is a {} bad for my energy bill?|How can my {} save energy?",
    },
}
"""Kind of topic to intent to its questions."""


def make(split: str, n: int, seed: int = 0) -> list[Row]:
    """Return n pairs of questions."""
    return draw(pair, split, n, seed, content=_questions)


def _questions(row: Row) -> str:
    return "\t".join(sorted(text.rpartition(": ")[2] for text in row.texts))


def pair(rng: Generator) -> Row:
    """Return one pair with its label."""
    kind = pick(rng, list(INTENTS))
    intents = {name: questions.split("|") for name, questions in INTENTS[kind].items()}
    intent, other_intent = pick_two(rng, list(intents))
    topic, other_topic = pick_two(rng, TOPICS[kind].split("|"))
    is_same, how = rng.random() < 0.5, rng.random()
    if is_same:
        first, second = pick_two(rng, intents[intent])
    elif how < 0.06:
        first, second = pick(rng, intents[intent]), pick(rng, intents[intent])
    else:
        first, second = pick(rng, intents[intent]), pick(rng, intents[other_intent])
    second_topic = topic if is_same or how > 0.3 else other_topic
    texts = (first.format(topic), second.format(second_topic))
    return Row(tuple(pick(rng, OPENINGS) + text for text in texts), "duplicate" if is_same else "different")
