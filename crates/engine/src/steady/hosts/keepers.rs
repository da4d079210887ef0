//! Which processors of a host threads have for good, where all that ever run there always do.
//!
//! They come when the run begins, one after the other, and nobody is moved who is alone on his
//! processor. So who is beside whom on a core follows from the order in which partitions are
//! listed: first each has a core to itself, those that come later are beside the first. Linux
//! looks for the emptiest core of a chip; Xen from the processor on that its turn gave each,
//! whichever chip that is on. As soon as anybody comes and goes, waits for a turn, is stopped, is
//! bound to some processors or drawn to memory, threads are moved: who meets whom is chance then.

use std::collections::BTreeMap;

use crate::ids::ChipId;
use crate::machine::Topology;
use crate::spec::Policy;
use crate::steady::hosts::run_queues::Seat;
use crate::steady::layout::form::Form;
use crate::steady::layout::host::Host;
use crate::steady::layout::threads::Set;
use crate::steady::queues::demand::Arrivals;

impl Host {
    /// Whether all that ever run have a processor each and never leave it.
    pub(in crate::steady) fn all_stay(&self, tree: &Topology, forms: &[&Form]) -> bool {
        let at_work: Option<usize> = forms.iter().map(|form| stay(form)).sum();
        let fit = at_work.is_some_and(|at_work| at_work <= self.queue_of.len());
        let is_left = self.cgroups.iter().all(|group| group.quota_ns.is_none());
        let mut memories = self
            .chips
            .iter()
            .map(|chip| tree.domain_of(ChipId::new(*chip)));
        let first = memories.next();
        let is_near = memories.all(|other| Some(other) == first)
            || forms.iter().all(|form| form.threads.drawn.is_none());
        // Under Xen whoever wakes may take the place of one that stays.
        let is_still = self.policy != Policy::Credit2 || !forms.iter().any(|form| has_idle(form));
        self.siblings > 1 && fit && is_left && is_near && is_still
    }

    /// Gives each its processor under Linux: on the chips where they are seated.
    pub(in crate::steady) fn keep_on_chips(&mut self, forms: &[&Form]) {
        self.kept.clear();
        if !self.stays {
            return;
        }
        let mut kept = vec![None; self.queue_of.len()];
        for unit in &self.units {
            let count = stay(forms[unit.partition]).unwrap_or(0) as f64;
            for (chip, share) in &unit.seats {
                for _ in 0..(share * count).round() as usize {
                    let there = (0..kept.len()).filter(|cpu| self.chips[*cpu] == *chip);
                    let Some(cpu) = self.emptiest(&kept, there) else {
                        return; // Some wait for turns.
                    };
                    kept[cpu] = Some(unit.partition);
                }
            }
        }
        self.kept = kept;
    }

    /// The same under Xen, from which the chips follow.
    pub(in crate::steady) fn keep_in_queues(&mut self, seats: &[Seat]) {
        self.kept.clear();
        if !self.stays {
            return;
        }
        let mut kept = vec![None; self.queue_of.len()];
        let mut turns = vec![0; self.queue_of.len()];
        for seat in seats {
            let all = 0..kept.len();
            let mut own: Vec<usize> = all
                .filter(|cpu| self.queue_of[*cpu] == seat.queue)
                .collect();
            let turn = turns[seat.queue] % own.len();
            own.rotate_left(turn);
            turns[seat.queue] += 1;
            if seat.busy > 0.0 {
                let Some(cpu) = self.first_alone(&kept, &own) else {
                    return;
                };
                kept[cpu] = Some(self.units[seat.unit].partition);
            }
        }
        self.kept = kept;
    }

    /// Chips on which a partition keeps processors, with the share of them there.
    pub(in crate::steady) fn kept_by_chip(&self, partition: usize) -> Vec<(usize, f64)> {
        let cpus = self.kept.iter().zip(&self.chips);
        let own = cpus.filter(|(kept, _)| **kept == Some(partition));
        let own: Vec<usize> = own.map(|(_, chip)| *chip).collect();
        let mut seats: BTreeMap<usize, f64> = BTreeMap::new();
        for chip in &own {
            *seats.entry(*chip).or_default() += 1.0 / own.len() as f64;
        }
        seats.into_iter().collect()
    }

    /// Others that keep a processor of the same core.
    pub(in crate::steady) fn beside<'a>(
        &self,
        kept: &'a [Option<usize>],
        cpu: usize,
    ) -> impl Iterator<Item = usize> + 'a {
        let first = cpu / self.siblings * self.siblings;
        let core = first..(first + self.siblings).min(kept.len());
        core.filter_map(move |other| kept[other].filter(|_| other != cpu))
    }

    /// The first processor that is free of those on whose core fewest are taken.
    fn emptiest(&self, kept: &[Option<usize>], cpus: impl Iterator<Item = usize>) -> Option<usize> {
        let free = cpus.filter(|cpu| kept[*cpu].is_none());
        free.min_by_key(|cpu| self.beside(kept, *cpu).count())
    }

    /// The first on whose core nobody is, or that is free.
    fn first_alone(&self, kept: &[Option<usize>], cpus: &[usize]) -> Option<usize> {
        let free = || cpus.iter().copied().filter(|cpu| kept[*cpu].is_none());
        let alone = free().find(|cpu| self.beside(kept, *cpu).next().is_none());
        alone.or_else(|| free().next())
    }
}

/// How many of a partition's threads always have work; none where it has any that come and go, or
/// that may not be anywhere.
fn stay(form: &Form) -> Option<usize> {
    let is_alone = form.workloads.is_empty()
        && form.guests.is_none()
        && form.handling.is_none()
        && form.serves.is_none()
        && form.asks_io.is_none()
        && form.lock.is_none();
    let threads = &form.threads;
    let is_free = |(set, _): &(Set, f64)| set.may.is_none() && set.likes.is_none();
    let is_left = threads.cap.is_infinite() && threads.sets.iter().all(is_free);
    let at_work = match form.demand.arrivals {
        Arrivals::Always(threads, duty) if duty >= 1.0 => f64::from(form.filled.vps()).min(threads),
        Arrivals::Never => 0.0,
        _ => return None,
    };
    (is_alone && is_left).then_some(at_work as usize)
}

/// Whether a partition has virtual processors without work, on which only its daemons run.
fn has_idle(form: &Form) -> bool {
    stay(form).is_some_and(|at_work| at_work < usize::from(form.partition.processors.count()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steady::layout::host::Unit;

    /// Whose the processors of four cores of two threads are where such loops are dealt to two run
    /// queues.
    fn kept(seats: &[(usize, usize)]) -> Vec<Option<usize>> {
        let mut host = Host::of_lots(Vec::new(), Vec::new(), 0.0);
        (host.siblings, host.stays) = (2, true);
        host.queue_of = vec![0, 0, 0, 0, 1, 1, 1, 1];
        let unit = |partition| Unit {
            partition,
            share: 1.0,
            lots: Vec::new(),
            likes: Vec::new(),
            seats: Vec::new(),
        };
        host.units = (0..3).map(unit).collect();
        let seat = |(unit, queue): &(usize, usize)| Seat {
            unit: *unit,
            busy: 1.0,
            queue: *queue,
        };
        host.keep_in_queues(&seats.iter().map(seat).collect::<Vec<_>>());
        host.kept
    }

    #[test]
    fn each_has_a_core_to_itself_before_the_next_are_beside_the_first() {
        let (some, other) = (Some(0), Some(1));
        assert_eq!(
            kept(&[(0, 0), (0, 1), (0, 0), (1, 1), (1, 0), (1, 0)]),
            [some, other, some, other, some, None, other, None]
        );
    }

    #[test]
    fn nobody_keeps_a_processor_where_more_want_one_of_a_queue_than_there_are() {
        assert!(kept(&[(0, 0); 5]).is_empty());
    }
}
