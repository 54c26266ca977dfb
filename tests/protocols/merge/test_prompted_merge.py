"""A model at an endpoint: labels are all that MERGE needs of it."""

import json
import re
from typing import Any

from click.testing import CliRunner
from fake_server import serving
from merge_planted import truth

from shoal.cli import main

SMALL: dict[str, Any] = {"limit": 6, "sample": 6, "draws": 2}


def tried(model: str) -> dict[str, dict[str, float]]:
    """The measures of `shoal try merge` over all variants, by name."""
    words = [part for name, value in SMALL.items() for part in ("--set", f"{name}={value}")]
    done = CliRunner().invoke(main, ["try", "merge", model, *words, "--json"])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.output[done.output.index("{") :])["measures"]
    whole = [row for row in rows if not {"word class", "source", "seeds"} & set(row["groups"])]
    return {row["name"] + row["groups"].get("threshold", ""): row for row in whole}


def by_truth(question: str) -> str:
    """What is right of a pair, in the words that the prompt asks for."""
    pair = re.search(r"Premise: (.*)\nHypothesis: (.*)\n", question)
    assert pair is not None, question
    words = {"entailment": "true", "neutral": "unclear", "contradiction": "false"}
    return words[truth((pair[1], pair[2]))]


def test_an_endpoint_that_is_always_right_solves_every_pattern():
    with serving(rule=by_truth, logprobs=False) as server:
        measures = tried(f"openai:any?url={server.url}&prompt=entailment-plain&mode=generate")
    assert measures["sample accuracy"]["value"] == 1.0 and measures["pattern accuracy1"]["value"] == 1.0
    assert server.bodies  # it was asked, nothing else answered
