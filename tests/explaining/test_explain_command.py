"""`shoal explain`: what is printed, as colours, words and JSON."""

import json
import re

import pytest
from click.testing import CliRunner

from shoal.cli import main
from shoal.core.views import Section, Weighed, WeighedWords
from shoal.explaining import EXPLAINERS
from shoal.render import html_blocks as html
from shoal.render import terminal
from shoal.render.latex import as_latex

TEXT = "The food was great,  but I hated it."


def run(*words):
    return CliRunner(env={"COLUMNS": "100"}).invoke(main, ["explain", *words])


def without_values(shown):
    """What is printed where there are no colours, without what stands in brackets behind words."""
    return re.sub(r" \([+−]?\d\.\d+\)", "", shown)


@pytest.mark.parametrize("method", EXPLAINERS)
def test_the_text_stands_there_as_it_was_written_and_the_method_below(method):
    done = run("tiny:sentiment", TEXT, "--method", method, "--samples", "60")
    assert done.exit_code == 0, done.output
    lines = without_values(done.output).splitlines()
    assert lines[0].startswith(("positive ", "negative ")) and TEXT in lines
    assert (
        f"Method: {method}, 60 {'steps' if method == 'gradients' else 'copies of the text'}; absent words are masked"
        in " ".join(done.output.split())
    )


def test_json_has_every_word_and_its_number():
    done = run("tiny:sentiment", TEXT, "--samples", "60", "--json", "--label", "negative", "--seed", "3")
    told = json.loads(done.output)
    (attribution,) = told["attributions"]
    assert attribution["words"] == ["The", "food", "was", "great", ",", "but", "I", "hated", "it", "."]
    assert attribution["label"] == "negative" and len(attribution["values"]) == 10
    assert sum(attribution["values"]) == pytest.approx(attribution["output"] - attribution["baseline"])
    assert told["jobs"] == [{"model": "tiny:sentiment", "method": "shapley", "texts": [TEXT]}]


def test_the_labels_have_the_names_of_labelled_texts(tmp_path):
    (tmp_path / "two.csv").write_text("text,label\nFine.,pos\nDull.,neg\n")
    done = run("tiny:sentiment", "A fine film.", f"--data={tmp_path / 'two.csv'}", "--json")
    (attribution,) = json.loads(done.output)["attributions"]
    assert set(attribution["probabilities"]) == {"neg", "pos"}


def test_signs_survive_without_colour_in_every_form():
    """Words for the answer and against it are told apart by more than colour, and text stays text."""
    row = Weighed([[("good", 0.5), (" ", None), ("<b>bad</b>", -0.4), (" film", 0.01)]])
    block = WeighedWords([row])
    page = str(html.BLOCKS[WeighedWords](block))
    assert '<span class="w for" style="--depth:1.00" title="good: +0.500">good</span>' in page
    bad = "&lt;b&gt;bad&lt;/b&gt;"
    assert f'<span class="w against" style="--depth:0.80" title="{bad}: −0.400">{bad}</span> film' in page
    assert "counts for" in page and "counts against" in page
    tex = as_latex([Section(blocks=[block])])
    assert "good (+0.500)" in tex
    (line, *_) = terminal.BLOCKS[WeighedWords](block, 80)
    assert [str(span.style) for span in line.spans] == ["bold underline green", "bold red"]
