"""Games as they were once stored are read for ever, or refused with a reason of their own."""

import pytest

from moonvale_engine import RULES_VERSION, UnknownRulesError, decode, encode, known_versions
from moonvale_engine.codec import CODEC_VERSION
from tests.support.corpus import CORPUS, golden_record, stored_after

LINES = CORPUS.read_text().splitlines()


@pytest.mark.parametrize("line", LINES, ids=lambda line: "-".join(line.split()[:2]))
def test_a_stored_game_is_read_or_refused_as_of_other_rules(line: str) -> None:
    name, actions, text = line.split()
    data = bytes.fromhex(text)
    if data[2] != CODEC_VERSION or data[3] not in known_versions():
        with pytest.raises(UnknownRulesError):
            decode(data)
        return
    assert encode(decode(data)) == data
    assert stored_after(golden_record(name), int(actions)) == data


def test_the_corpus_has_games_of_the_present_version() -> None:
    present = bytes((CODEC_VERSION, RULES_VERSION))
    assert sum(bytes.fromhex(line.split()[2])[2:4] == present for line in LINES) > 20
