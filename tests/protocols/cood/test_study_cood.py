"""The study's numbers come from the cells that are committed beside it."""

import csv
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shoal.protocols import cood

WORDS = "good bad food place service went came we ate it again never always"
STUDY = Path(__file__).parents[3] / "docs" / "studies" / "cood"


def test_the_intervals_of_the_study_follow_from_its_cells():
    made = subprocess.run(
        [sys.executable, STUDY / "intervals.py"], capture_output=True, text=True, check=True
    )
    assert made.stdout == (STUDY / "intervals.csv").read_text()


def test_the_plan_of_the_papers_setting_is_sound_but_for_the_files_that_users_bring(tmp_path, monkeypatch):
    """A hundredth of its texts, made-up, and very small models of the same names in the place of the real ones."""
    pytest.importorskip("torch", reason="needs shoal[hf]")
    from shoal.runs.plan import check_plan, read_plan

    text = (STUDY / "yelp-paper.toml").read_text()
    for number, hundredth in (("2_000", "20"), ("1_000", "10"), ("250", "3")):
        assert f"per_label = {number}\n" in text
        text = text.replace(f"per_label = {number}\n", f"per_label = {hundredth}\n")
    names = ("bert-base-uncased", "roberta-base")
    _save_small_models([tmp_path / name for name in names])
    rng = np.random.default_rng(0)
    words = WORDS.split()
    with (tmp_path / "yelp_reviews.csv").open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["text", "stars"])
        rows.writerows([" ".join(rng.choice(words, 12)), 1 + n % 5] for n in range(200))
    (tmp_path / "plan.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    plan = read_plan(Path("plan.toml"))
    jobs = check_plan(plan)
    assert len(jobs) == 2 * 5
    settings = plan.tables["cood"]
    assert settings.per_label == (20,) and settings.train.head == "linear"
    # 4 K items in batches, ten times.
    steps = {job.model: cood.recipe(job.settings, job.model).stages[0].steps for job in jobs}  # type: ignore[union-attr]
    assert list(steps.values()) == [30, 30]


def _save_small_models(folders):
    import transformers

    from shoal.training.from_scratch import make_tokenizer

    tokenizer = make_tokenizer(
        ["good bad food place service went came we ate it again never always"] * 3, 100, 128
    )
    sizes: dict[str, Any] = {
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
    }
    for folder in folders:
        config = transformers.BertConfig(vocab_size=len(tokenizer), max_position_embeddings=128, **sizes)
        transformers.BertModel(config).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
