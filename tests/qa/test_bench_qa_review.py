"""The run that the bench of the review makes: pairs that can be reviewed, with their pictures."""

from pathlib import Path

import comparing  # noqa: F401

from bench.qa_review import write_run
from pinakes.qa.review.reviewed_pair import reviewed_pairs
from pinakes.qa.run.run_folder import read_pairs


def test_its_pairs_are_all_asked_for_and_have_pictures(tmp_path: Path) -> None:
    write_run(tmp_path / "qa", 3)
    pairs, repeated = reviewed_pairs(read_pairs(tmp_path / "qa"))
    assert (len(pairs), repeated) == (3, 0)
    assert all(pair.is_queued for pair in pairs)
    views = [view for p in pairs for view in (p.judged.result.reference, p.judged.result.other)]
    assert len({view.image for view in views}) == 6
    assert all((tmp_path / "qa" / str(view.image)).is_file() for view in views)
