"""Advice as a picture: the moves that are told, and what each layout uses."""

from __future__ import annotations

from homenode.model.estimate import Estimate
from homenode.planner.advice import Advice, Answer, Change
from homenode.report.advice_pictures import advice_picture, moves_of


def answer(cores: float, *changes: Change) -> Answer:
    return Answer(changes, Estimate(cores), None, Estimate(None), 1.0)


def test_before_and_after_with_the_moves() -> None:
    moved = answer(14.0, Change("db", "home", "partition.db.home", "book0", "book1", "nearer"))
    told = Advice(
        name="frame", goal="cores", machine="", node_name="book", verdict="change",
        told="1 change saves 2 cores.", do_nothing=answer(16.0),
        best=(moved,), solved=2, proven=True, currency=None,
    )  # fmt: skip
    assert moves_of(moved) == [{"label": "db: home", "before": "book0", "after": "book1"}]
    drawn = advice_picture(told).to_dict()
    assert drawn["description"].startswith("1 change saves 2 cores.")
    assert "db: home from book0 to book1" in drawn["description"]
    assert "as it is cores 16.00; advice 1 cores 14.00" in drawn["description"]
    assert len(drawn["hconcat"]) == 2
    # Where nothing is better there are no moves to show.
    assert len(advice_picture(Advice(**{**vars(told), "best": ()})).to_dict()["hconcat"]) == 1
