"""Help: every verb and topic, nothing truncated, and the settings of every protocol."""

import re
from dataclasses import fields
from importlib import import_module

import pytest
from click.testing import CliRunner

from shoal.cli import GROUPS, main
from shoal.cli.help import TABLES, TOPICS
from shoal.models import SCHEMES
from shoal.protocols import PROTOCOLS, find_protocol

VERBS = [str(command.name) for commands in GROUPS.values() for command in commands]


def shoal(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(main, [*arguments], prog_name="shoal", env={"COLUMNS": "80"})
    assert done.exit_code == code, done.output
    return done.output


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_equals_its_option(verb):
    assert shoal("help", verb) == shoal(verb, "--help")


def test_help_alone_is_the_list_of_verbs_with_whole_summaries():
    output = shoal("help")
    assert output == shoal("--help") and "..." not in output.partition("Look:")[2]
    missing = [verb for verb in VERBS if not re.search(rf"^  {verb} +\S", output, re.MULTILINE)]
    assert not missing


def test_the_topic_of_models_names_every_scheme_and_option():
    text, known = TOPICS["models"], set()
    for scheme, (module, _) in SCHEMES.items():
        assert f"  {scheme}:" in text
        known |= set(import_module(f"shoal.models.{module}").OPTIONS)
    missing = [option for option in known if not re.search(rf"\b{option}\b", text)]
    assert set(missing) <= {"chat", "date"}


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_list_settings_has_every_setting_with_its_default(protocol):
    output = shoal("list", "settings", protocol)
    names = [field.name.rstrip("_") for field in fields(find_protocol(protocol).Settings)]
    assert not [name for name in names if not re.search(rf"^  {name}\b", output, re.MULTILINE)]
    assert max(map(len, output.splitlines())) <= 80


def test_every_list_fits_a_terminal_and_is_part_of_the_whole():
    whole = shoal("list")
    assert max(map(len, whole.splitlines())) <= 80
    assert [name for name in TABLES if shoal("list", name).splitlines()[0].strip() not in whole] == []
