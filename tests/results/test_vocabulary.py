"""Causes by the words of a machine: which rows there are and what they are called."""

from __future__ import annotations

import pytest

import cell_frames as cells
import frames
from homenode.model import catalog
from homenode.model.catalog.flatten import machine_spec
from homenode.simulate.kept.books import CAUSES
from homenode.simulate.kept.vocabulary import Vocabulary


def of_machine(machine: catalog.MachineDescription) -> Vocabulary:
    return Vocabulary.of_spec(machine_spec(machine), machine.node_name)


def test_memory_beside_a_cell_is_on_the_same_cell() -> None:
    labels = Vocabulary.of_spec(cells.frame()["machine"], "cell").labels
    assert labels["memory_local"] == "memory, same cell"
    assert labels["memory_far"] == "memory, other cell"
    assert labels["cache_near"] == "another cache, same cell"
    assert {"memory_near", "l4", "translation", "smt"}.isdisjoint(labels)


def test_memory_beside_a_chip() -> None:
    machine = frames.frame()["machine"]
    machine |= {"nodes": 1, "translation": {"entries": 4, "walk_ns": 1.0}}
    labels = Vocabulary.of_spec(machine, "book").labels
    assert labels["memory_local"] == "memory, same chip"
    assert labels["memory_near"] == "memory, same book"
    assert labels["translation"] == "address translation"
    assert {"memory_far", "cache_far"}.isdisjoint(labels)
    assert "l2" not in labels  # the frame has no caches


def test_stores_wait_where_the_caches_next_to_the_core_pass_them_on() -> None:
    assert "store" not in of_machine(catalog.machine("ibm-power-795")).labels
    words = of_machine(catalog.machine("ibm-zec12"))
    assert words.labels["store"] == "stores waiting for their way"


def test_a_directory_beside_the_memory_has_no_remote_caches() -> None:
    machine = {**cells.frame()["machine"], "coherence": "home"}
    labels = Vocabulary.of_spec(machine, "cell").labels
    assert {"cache_near", "cache_far"}.isdisjoint(labels)


def test_levels_keep_their_names() -> None:
    levels = [("L1", "core"), ("L1.5", "core"), ("L2", "node"), ("L3 chip", "chip")]
    machine = cells.frame()["machine"]
    machine["caches"] = [{"name": name, "scope": scope} for name, scope in levels]
    labels = Vocabulary.of_spec(machine).labels
    assert (labels["l2"], labels["l4"]) == ("L1.5 cache", "L2 cache")
    assert "l3" not in labels


def test_two_machines_share_what_both_say() -> None:
    book = Vocabulary.of_spec(frames.frame()["machine"], "book")
    cell = Vocabulary.of_spec(cells.frame()["machine"], "cell")
    both = book.joined(cell)
    assert both.node == "node"
    assert both.labels["memory_local"] == "memory, local"
    assert both.labels["memory_near"] == "memory, same book"
    assert both.labels["cache_far"] == "another cache, other node"
    assert both.labels["l2"] == "L2 cache"
    assert book.joined(book) is book


def test_a_cause_that_has_a_value_is_never_left_out() -> None:
    labels = Vocabulary.of_spec(cells.frame()["machine"]).with_causes(["translation"]).labels
    order = [cause.name for cause in CAUSES]
    assert "translation" in labels
    assert list(labels) == sorted(labels, key=order.index)


@pytest.mark.parametrize("name", catalog.machines())
def test_every_shipped_machine_has_words(name: str) -> None:
    machine = catalog.machine(name)
    words = of_machine(machine)
    assert words.node == machine.node_name
    beside = "chip" if machine.memory.beside == "chip" else machine.node_name
    assert words.labels["memory_local"] == f"memory, same {beside}"
