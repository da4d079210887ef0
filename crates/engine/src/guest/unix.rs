//! HP-UX and Linux: a run queue for each logical processor, no folding.
//!
//! A waking thread goes back to the logical processor that it last ran on if that is idle, else to
//! the nearest idle one: on the same chip, in the same node, elsewhere; of equally near ones to the
//! core with fewest busy threads. A new thread starts on the chip that has most of the emptiest
//! cores, on equal ones in turn, so that work spreads over the chips of a partition. An idle
//! processor takes what waits near it first, and once in a while the balancer evens out the queues.
//!
//! This is what the two schedulers have in common (Linux: `select_task_rq_fair` and
//! `load_balance`; HP-UX: its default launch policy and thread balancing). Linux looks no further
//! than the last cache level when a thread wakes and leaves the rest to its balancer; ours looks
//! everywhere, because an idle core beside a waiting thread does not last long on either.

use super::loads::Loads;
use super::set::VpSet;
use crate::ids::{ChipId, NodeId};

/// Where the virtual processors of a partition are.
#[derive(Clone, Debug)]
pub struct Places {
    chip_of: Vec<usize>,
    node_of: Vec<usize>,
    chips: Vec<VpSet>,
    nodes: Vec<VpSet>,
    all: VpSet,
    next_chip: usize,
}

impl Places {
    /// Chip and node of each virtual processor.
    pub fn new(places: impl ExactSizeIterator<Item = (ChipId, NodeId)>) -> Self {
        let count = places.len() as u16;
        let (mut chip_ids, mut node_ids) = (Vec::new(), Vec::new());
        let mut all = Self {
            chip_of: Vec::new(),
            node_of: Vec::new(),
            chips: Vec::new(),
            nodes: Vec::new(),
            all: VpSet::new(count),
            next_chip: 0,
        };
        for (vp, (chip, node)) in (0..count).zip(places) {
            let chip = group(&mut chip_ids, &mut all.chips, chip, count);
            let node = group(&mut node_ids, &mut all.nodes, node, count);
            all.chips[chip].insert(vp);
            all.nodes[node].insert(vp);
            all.all.insert(vp);
            all.chip_of.push(chip);
            all.node_of.push(node);
        }
        all
    }

    /// Virtual processor with an idle thread for a waking thread that last ran on `last`.
    pub fn choose(&mut self, loads: &Loads, last: Option<u16>) -> Option<u16> {
        let Some(vp) = last else {
            return self.spread(loads);
        };
        let emptiest_in = |ring| idle_loads(loads).find_map(|load| loads.at(load).first_in(ring));
        self.around(vp).into_iter().find_map(emptiest_in)
    }

    /// The member of a set that is nearest to a virtual processor.
    pub fn nearest(&self, set: &VpSet, vp: u16) -> Option<u16> {
        let mut rings = self.around(vp).into_iter();
        rings.find_map(|ring| set.first_in(ring))
    }

    /// Virtual processors on the chip of one, in its node, anywhere.
    fn around(&self, vp: u16) -> [&VpSet; 3] {
        let vp = usize::from(vp);
        [
            &self.chips[self.chip_of[vp]],
            &self.nodes[self.node_of[vp]],
            &self.all,
        ]
    }

    /// The emptiest core, on the chip that has most such cores; equal ones take turns.
    fn spread(&mut self, loads: &Loads) -> Option<u16> {
        let load = idle_loads(loads).find(|load| loads.at(*load).first().is_some())?;
        let emptiest = loads.at(load);
        let count = self.chips.len();
        let turn = (0..count).map(|step| (self.next_chip + step) % count);
        let most = |chip: &usize| emptiest.count_in(&self.chips[*chip]);
        // Of equal ones `max_by_key` takes the last.
        let chip = turn.rev().max_by_key(most)?;
        self.next_chip = (chip + 1) % count;
        emptiest.first_in(&self.chips[chip])
    }

    /// How far two virtual processors are apart: the same chip 0, the same node 1, else 2.
    pub fn distance(&self, a: u16, b: u16) -> u8 {
        let (a, b) = (usize::from(a), usize::from(b));
        if self.chip_of[a] == self.chip_of[b] {
            0
        } else if self.node_of[a] == self.node_of[b] {
            1
        } else {
            2
        }
    }
}

/// Numbers of busy threads that leave one idle.
fn idle_loads(loads: &Loads) -> std::ops::Range<usize> {
    0..usize::from(loads.smt())
}

/// Index of a chip or node among those met so far, which it joins.
fn group<I: PartialEq>(ids: &mut Vec<I>, sets: &mut Vec<VpSet>, id: I, count: u16) -> usize {
    ids.iter()
        .position(|other| *other == id)
        .unwrap_or_else(|| {
            ids.push(id);
            sets.push(VpSet::new(count));
            ids.len() - 1
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(at: [(u16, u16); 4]) -> Places {
        let at = at.map(|(chip, node)| (ChipId::from(chip), NodeId::from(node)));
        Places::new(at.into_iter())
    }

    fn two_chips(smt: u8) -> (Places, Loads) {
        let places = places([(4, 1), (4, 1), (9, 2), (9, 2)]);
        (places, Loads::new(4, smt))
    }

    #[test]
    fn a_core_without_work_comes_before_an_idle_sibling() {
        let (mut places, mut loads) = two_chips(2);
        loads.set_mask(0, 1, true);
        assert_eq!(places.choose(&loads, Some(0)), Some(1));
        loads.set_mask(1, 1, true);
        // Nearness comes first: a sibling of the own core before a core of the other chip.
        assert_eq!(places.choose(&loads, Some(0)), Some(0));
        assert_eq!(places.choose(&loads, None), Some(2));
    }

    #[test]
    fn full_processors_are_not_chosen() {
        let (mut places, mut loads) = two_chips(1);
        (0..3).for_each(|vp| loads.set_mask(vp, 1, true));
        assert_eq!(places.choose(&loads, Some(0)), Some(3));
        loads.set_mask(3, 1, true);
        assert_eq!(places.choose(&loads, Some(0)), None);
        assert_eq!(places.choose(&loads, None), None);
    }

    #[test]
    fn new_threads_go_to_equally_idle_chips_in_turn() {
        let (mut places, loads) = two_chips(1);
        let chosen = [(); 4].map(|()| places.choose(&loads, None));
        assert_eq!(chosen, [Some(0), Some(2), Some(0), Some(2)]);
    }

    #[test]
    fn distance_follows_chip_and_node() {
        let places = places([(0, 0), (0, 0), (1, 0), (2, 1)]);
        let from_first = [0, 1, 2, 3].map(|vp| places.distance(0, vp));
        assert_eq!(from_first, [0, 0, 1, 2]);
    }
}
