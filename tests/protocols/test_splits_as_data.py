"""Splits of Hugging Face datasets as the data of protocols: read by name, and part of a job's identity by content."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from shoal.protocols.base import file_content
from shoal.protocols.cood.texts import _modified
from shoal.protocols.learning.iid import iid_identity, load_iid
from shoal.protocols.learning.iid import test_identity as identity_of_test
from shoal.protocols.learning.settings import Settings
from shoal.protocols.ranking.build import checked_path
from shoal.runs.plan import _relative

MADE = Path(__file__).parents[1] / "support" / "made_elsewhere" / "datasets"


@pytest.mark.parametrize("folder", ["saved", "hub"])
def test_iid_data_can_be_splits_of_a_dataset(folder):
    settings = Settings(iid=f"{MADE / folder}?split=train", iid_test=f"{MADE / folder}?split=test")
    data = load_iid(settings)
    assert [row.label for row in data.train] == ["negative", "positive", "negative"]
    assert (len(data.test), data.labels) == (2, ("negative", "positive"))


def test_the_identity_of_a_job_follows_the_split_and_its_content(tmp_path):
    shutil.copytree(MADE / "saved", tmp_path / "saved")
    train, test = f"{tmp_path / 'saved'}?split=train", f"{tmp_path / 'saved'}?split=test"

    def identities():
        settings = Settings(iid=train, iid_test=test)
        content = [file_content("data")(SimpleNamespace(data=name)) for name in (train, test)]
        return (
            iid_identity(settings)["content"],
            identity_of_test(settings),
            *map(str, content),
            _modified(test),
        )

    before = identities()
    assert len(set(before)) == len(before) and all(before)
    shutil.copy(
        MADE / "saved/train/data-00000-of-00002.arrow", tmp_path / "saved/test/data-00000-of-00001.arrow"
    )
    assert not set(before) & set(identities())


def test_a_split_is_found_beside_its_plan_and_checked_by_every_protocol(tmp_path, monkeypatch):
    shutil.copytree(MADE / "hub", tmp_path / "plans" / "hub")
    monkeypatch.chdir(tmp_path)
    found = _relative("hub?split=test", tmp_path / "plans")
    assert found == "plans/hub?split=test" and checked_path(found) == Path(found)
