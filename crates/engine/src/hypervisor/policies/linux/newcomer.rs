//! Where a new task goes, or one that may not go back: to the emptiest node, the emptiest cache, an
//! idle core, a thread; the least loaded where none is idle.
//!
//! Processors beside each other have the same sets around them, so these are counted once for all
//! of them; and an average is read only where it may be the least.

use super::domains::{Domains, LEVELS};
use super::ids::{CoreId, Span, TaskId};
use super::tree::Tree;

/// Idle processors in the sets around one, from the machine in; one more, so that a level that
/// isn't there comes before an empty one.
type Room = [u32; LEVELS];

/// The best so far, the room around it and its load.
type Best = (CoreId, Room, u64);

impl Tree {
    /// Processor for a new task; the first of equals.
    pub fn idlest(&self, domains: &Domains, task: TaskId) -> CoreId {
        let mut best: Option<Best> = None;
        let mut next = 0;
        while next < self.cpus.len() {
            let near = domains.near(CoreId::new(next));
            let most = best.map_or(Room::default(), |(_, room, _)| room);
            match self.room_around(domains, near, &most) {
                Ok((room, level)) => {
                    next = near.numbers().end;
                    self.idlest_of(near, task, (room, level), &mut best);
                }
                Err(behind) => next = behind,
            }
        }
        best.map_or(CoreId::new(0), |(cpu, ..)| cpu)
    }

    /// Room in the sets around neighbours, and the level on which each stands alone; or the end of
    /// a set that has less than `most`.
    fn room_around(
        &self,
        domains: &Domains,
        near: Span<CoreId>,
        most: &Room,
    ) -> Result<(Room, Option<usize>), usize> {
        let mut room = Room::default();
        let alone = domains.seats[near.at(0)].len().checked_sub(1);
        let around = domains.groups_of(near.at(0)).take(alone.unwrap_or(0));
        for (level, group) in around.enumerate() {
            room[level] = 1 + self.idle.count(group);
            if room[..=level] < most[..=level] {
                return Err(group.numbers().end);
            }
        }
        Ok((room, alone))
    }

    fn idlest_of(
        &self,
        near: Span<CoreId>,
        task: TaskId,
        (mut room, alone): (Room, Option<usize>),
        best: &mut Option<Best>,
    ) {
        let task = &self.tasks[task];
        for cpu in near.into_iter().filter(|cpu| task.may_use(*cpu)) {
            if let Some(alone) = alone {
                room[alone] = 1 + u32::from(self.is_idle(cpu));
            }
            if let Some((_, most, least)) = best {
                let is_behind = room < *most || room == *most && self.least_load(cpu) >= *least;
                if is_behind || room == *most && in_steps(self.cpu_load(cpu)) >= *least {
                    continue;
                }
            }
            *best = Some((cpu, room, in_steps(self.cpu_load(cpu))));
        }
    }

    /// What a processor's load is at least.
    fn least_load(&self, cpu: CoreId) -> u64 {
        let queue = self.queue(self.root_of(cpu));
        let (low, _) = queue.load.bounds(queue.load_now());
        // Roundings of the average are far less than that.
        in_steps(low * (1.0 - 1e-9))
    }
}

/// Loads are compared by the 1024th part of one.
fn in_steps(load: f64) -> u64 {
    (load * 1024.0) as u64
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use super::super::domains::Rhythm;
    use super::super::mask::Mask;
    use super::super::tests::{scheduler, spec};
    use super::*;
    use crate::kernel::Stream;
    use crate::machine::{parse_short, Topology};

    /// Looks at every processor, and at all sets around each.
    fn plain(tree: &Tree, domains: &Domains, task: TaskId) -> CoreId {
        let rank = |cpu: CoreId| {
            let mut room = Room::default();
            for (level, group) in domains.groups_of(cpu).enumerate() {
                room[level] = 1 + tree.idle.count(group);
            }
            (room, Reverse(in_steps(tree.cpu_load(cpu))), Reverse(cpu))
        };
        let usable = tree.cpus.ids().filter(|c| tree.tasks[task].may_use(*c));
        usable
            .max_by_key(|cpu| rank(*cpu))
            .unwrap_or(CoreId::new(0))
    }

    #[test]
    fn the_idlest_is_found_as_by_a_look_at_all() {
        let mut dice = Stream::new(1, 0, "idlest");
        let task = TaskId::new(0);
        for (form, siblings) in [
            ("core:1", 1),
            ("core:9", 3),
            ("node:2 chip:2 core:4", 2),
            ("node:3 chip:2 core:3", 1),
            ("node:2 chip:1 core:8", 4),
        ] {
            let machine = parse_short(form).unwrap();
            let mut topology = Topology::new(&machine);
            for _ in 0..200 {
                let all = topology.chips().len() as u64 * u64::from(topology.cores_per_chip);
                topology.active_cores = 1 + dice.below(all) as u16;
                let cpus = usize::from(topology.active_cores);
                let rhythm = Rhythm {
                    enabled: true,
                    tick: 1,
                    unit: 1,
                    busy_factor: 1,
                };
                let domains = Domains::new(&topology, siblings, rhythm);
                let linux = scheduler(&spec(cpus as u16, vec![], &[1]), 0);
                let mut tree = linux.tree;
                tree.now = 1 + dice.below(50_000_000);
                let (rare, alike) = (1 + dice.below(8), 1 + dice.below(4));
                let mut mask = Mask::none(cpus);
                for cpu in tree.cpus.ids() {
                    tree.idle.set(cpu, dice.below(rare) == 0);
                    mask.set(cpu, dice.below(4) > 0);
                    let root = tree.root_of(cpu);
                    let queue = &mut tree.queues[root];
                    queue.weight = 1024 * 1024 * dice.below(alike);
                    queue
                        .load
                        .update(1024.0 * dice.below(alike) as f64, dice.below(tree.now));
                }
                if dice.below(3) == 0 {
                    tree.tasks[task].allow(mask);
                }
                assert_eq!(tree.idlest(&domains, task), plain(&tree, &domains, task));
            }
        }
    }
}
