"""What is asked: prompt files, right and wrong."""

import time
import tomllib

import pytest

from shoal.core.errors import ModelError
from shoal.models.prompted.prompt import PROMPTS, TASKS, make_prompt, read_prompt

GOOD = """
task = "text"
system = "You label film reviews."
user = '''
{{ instruction }}
Review: {{ text }}
Sentiment:'''
[labels]
negative = "bad"
positive = "good"
[[shots]]
text = "A delight."
label = "positive"
"""


def prompt(text=GOOD, **changes):
    return make_prompt({**tomllib.loads(text), **changes}, "mine")


def test_shots_become_earlier_turns_rendered_by_the_same_template():
    assert prompt().messages(("Dull.",)) == [
        {"role": "system", "content": "You label film reviews."},
        {"role": "user", "content": "Review: A delight.\nSentiment:"},
        {"role": "assistant", "content": "good"},
        {"role": "user", "content": "Review: Dull.\nSentiment:"},
    ]


def test_without_turns_they_are_blocks_parted_by_an_empty_line():
    assert prompt().blocks(("Dull.",)) == (
        "You label film reviews.\n\nReview: A delight.\nSentiment: good\n\nReview: Dull.\nSentiment:"
    )


def test_text_of_an_example_is_never_a_template():
    said = prompt().messages(("{{ labels }} {% for x in y %}",))[-1]["content"]
    assert said == "Review: {{ labels }} {% for x in y %}\nSentiment:"


def test_the_digest_is_of_what_is_asked_not_of_the_file():
    assert prompt().digest == make_prompt(tomllib.loads("# a remark\n" + GOOD), "another name").digest
    assert prompt().digest != prompt(instruction="Be kind.").digest


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"user": "Sentiment:"}, "does not show text"),
        ({"user": "{{ text }} {{ tetx }}"}, "unknown names: tetx"),
        ({"user": "{{ text"}, "not a valid template"),
        ({"task": "image"}, "task = 'image'"),
        ({"labels": {"negative": "bad", "positive": "Bad"}}, "a different word"),
        ({"shots": [{"text": "x", "label": "fine"}]}, "one of the prompt's labels"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_asked(changes, problem):
    with pytest.raises(ModelError, match=problem) as caught:
        prompt(**changes)
    assert "try: " in str(caught.value)


@pytest.mark.parametrize(
    "attack",
    ["{{ text.__class__.__mro__ }}", "{{ ''.__class__ }} {{ text }}", "{{ labels.append(1) }} {{ text }}"],
)
def test_templates_stay_in_their_sandbox(attack):
    with pytest.raises(ModelError, match="is not supported in prompts"):
        prompt(user=attack).messages(("x",))


@pytest.mark.parametrize("name", PROMPTS)
def test_a_prompt_that_ships_shows_its_texts_once_and_what_may_be_said(name):
    made = read_prompt(name)
    example = tuple(f"@{word}@" for word in TASKS[made.task])
    shown = "".join(turn["content"] for turn in made.messages(example))
    assert [shown.count(text) for text in example] == [1] * len(example)
    in_text = name.startswith(("choice", "options"))  # the text names its options
    assert in_text or all(word in shown for word in made.verbalisers)
    assert not shown[-1:].isspace()


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{% if labels %}" * 2000 + "{{ text }}" + "{% endif %}" * 2000, "nested too deeply"),
        ("{{ text }}{{ 'a' * 10**10 }}", "Mul is not supported"),
        ("{{ text }}{% for i in range(10) %}{% endfor %}", "a loop over something other than labels"),
        ("{{ text }}{{ lipsum(n=100000) }}", "Call is not supported"),
        ("{{ text | replace('o', 'oooooooooo') }}", "No filter named 'replace'"),
        ("{{ text }}{{ text | join('x') }}", "only labels can be joined"),
        ("{{ text }}{% for a in labels %}{% for b in labels %}{% endfor %}{% endfor %}", "inside another loop"),
        ("x" * 100_001 + "{{ text }}", "longer than 100,000"),
    ],
)  # fmt: skip
def test_a_template_that_would_do_too_much_is_an_error_at_once(template, why):
    began = time.monotonic()
    with pytest.raises(ModelError, match=why):
        prompt(user=template)
    assert time.monotonic() - began < 2


def test_a_template_that_repeats_a_long_text_is_an_error():
    with pytest.raises(ModelError, match="too much text"):
        prompt(user="{{ text }}" * 100).messages(("x" * 100_000,))


@pytest.mark.parametrize(
    "template", ["{% if false %}{{ text }}{% endif %}", "{{ text | length }}", "{{ text[:0] }}"]
)
def test_a_template_that_names_the_text_and_does_not_show_it_is_an_error(template):
    with pytest.raises(ModelError, match="user does not show text"):
        prompt(user=template)


def test_what_prompts_use_still_works():
    asked = prompt(
        user="{% for label in labels %}{{ loop.index }}. {{ label | upper }}{{ '' if loop.last else ', ' }}"
        "{% endfor %}\n{{ text | trim }} {{ labels[:2] | join('/') }} {{ labels[0] }}{% if labels %}!{% endif %}"
    )
    said = asked.messages((" Good. ",))[-1]["content"]
    assert said == "1. BAD, 2. GOOD\nGood. bad/good bad!"
