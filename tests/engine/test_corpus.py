"""Games as they were once stored are read for ever, or refused with a reason of their own."""

import pytest

from moonvale_engine import RULES_VERSION, UnknownRulesError, decode, encode, known_versions
from moonvale_engine.codec import CODEC_VERSION, READ_VERSIONS, as_encoded_now
from tests.support.corpus import CORPUS, golden_record, stored_after

LINES = CORPUS.read_text().splitlines()


@pytest.mark.parametrize("line", LINES, ids=lambda line: "-".join(line.split()[:2]))
def test_a_stored_game_is_read_or_refused_as_of_other_rules(line: str) -> None:
    name, actions, text = line.split()
    data = bytes.fromhex(text)
    if data[2] not in READ_VERSIONS or data[3] not in known_versions():
        with pytest.raises(UnknownRulesError):
            decode(data)
        return
    present = stored_after(golden_record(name), int(actions))
    assert encode(decode(data)) == present
    assert as_encoded_now(data) == present
    assert data == present or data[2] != CODEC_VERSION


def test_the_corpus_has_games_of_each_version_that_is_read() -> None:
    stored = [bytes.fromhex(line.split()[2])[2:4] for line in LINES]
    for version in READ_VERSIONS:
        assert stored.count(bytes((version, RULES_VERSION))) > 20
