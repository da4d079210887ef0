//! Which processors of a host threads have for good that always have work.
//!
//! All of them come when the run begins, one after the other, and nobody moves one that is alone
//! on its processor. So who is beside whom on a core follows from the order in which partitions
//! are listed: first each has a core to itself, those that come later are beside the first. Under
//! Linux each comes to the emptiest chip and there to the emptiest core; Xen looks from the
//! processor on that its turn gave it, chip after chip, for a core that is idle. Where there are
//! more than processors they take turns, and who meets whom is chance.

use crate::machine::Topology;
use crate::spec::Policy;
use crate::steady::layout::form::Form;
use crate::steady::layout::host::{Host, Unit};
use crate::steady::queues::demand::Arrivals;

impl Host {
    /// Gives those that always have work their processors.
    pub(in crate::steady) fn keep(&mut self, tree: &Topology, forms: &[&Form]) {
        self.kept = vec![None; usize::from(tree.active_cores)];
        let mut units = std::mem::take(&mut self.units);
        if self.policy == Policy::Credit2 {
            self.keep_in_queues(tree, forms, &mut units);
            let each = units.iter_mut();
            each.for_each(|unit| self.seat_on_chips(tree, unit));
        } else {
            self.keep_on_chips(tree, forms, &units);
        }
        self.units = units;
    }

    /// Under Linux: on the chips where they are seated, those with fewest processors first, as
    /// others make room for them.
    fn keep_on_chips(&mut self, tree: &Topology, forms: &[&Form], units: &[Unit]) {
        let mut order: Vec<&Unit> = units.iter().collect();
        order.sort_by_key(|unit| self.usable(unit).len());
        let mut is_full = vec![false; tree.chips().len()];
        for unit in order {
            let count = stay_for_good(forms[unit.partition], unit);
            let usable = self.usable(unit);
            for (chip, share) in &unit.seats {
                let there = |cpu: &&usize| self.chips[**cpu] == *chip;
                for _ in 0..(share * count as f64).round() as usize {
                    let free = usable.iter().filter(there).copied();
                    let free = free.filter(|cpu| self.kept[*cpu].is_none());
                    match free.min_by_key(|cpu| (self.kept_beside(*cpu), *cpu)) {
                        Some(cpu) => self.kept[cpu] = Some(unit.partition),
                        None => is_full[*chip] = true,
                    }
                }
            }
        }
        let chips = self.chips.clone();
        self.forget(|cpu| is_full[chips[cpu]]);
    }

    /// Under Xen: each from the processor on that its turn gave it.
    fn keep_in_queues(&mut self, tree: &Topology, forms: &[&Form], units: &mut [Unit]) {
        let cpus = usize::from(tree.active_cores);
        let queues = self.queue_of.last().map_or(0, |last| last + 1);
        let mut is_full = vec![false; queues];
        let mut turns = vec![cpus - 1; queues];
        for unit in units.iter() {
            let form = forms[unit.partition];
            let all = (unit.share * f64::from(form.partition.processors.count())).round();
            let mut left = self.by_queue(unit, all, queues);
            let usable = self.usable(unit);
            let mut at_work = stay_for_good(form, unit);
            while let Some(queue) = most(&left) {
                left[queue] -= 1.0;
                let of_queue = |cpu: &usize| self.queue_of[*cpu] == queue;
                let own: Vec<usize> = usable.iter().copied().filter(of_queue).collect();
                let Some(turn) = from(&own, turns[queue] + 1).next() else {
                    continue;
                };
                turns[queue] = turn;
                if at_work > 0 {
                    at_work -= 1;
                    let free = || from(&own, turn).filter(|cpu| self.kept[*cpu].is_none());
                    let alone = free().find(|cpu| self.kept_beside(*cpu) == 0);
                    match alone.or_else(|| free().next()) {
                        Some(cpu) => self.kept[cpu] = Some(unit.partition),
                        None => is_full[queue] = true,
                    }
                }
            }
        }
        let queue_of = self.queue_of.clone();
        self.forget(|cpu| is_full[queue_of[cpu]]);
    }

    /// Virtual processors of a unit in each run queue.
    fn by_queue(&self, unit: &Unit, all: f64, queues: usize) -> Vec<f64> {
        let mut by_queue = vec![0.0; queues];
        for (lot, share) in &unit.lots {
            by_queue[self.lots[*lot].queue] += share * all;
        }
        by_queue.iter().map(|count| count.round()).collect()
    }

    /// Under Xen the chips follow from the processors that a unit keeps; one that keeps none is on
    /// those that are left.
    fn seat_on_chips(&self, tree: &Topology, unit: &mut Unit) {
        let mut seats = vec![0.0; tree.chips().len()];
        for (lot, part) in &unit.lots {
            let members = self.lots[*lot].members.iter();
            let all: Vec<usize> = members.map(|cpu| usize::from(*cpu)).collect();
            let of = |keeper: Option<usize>| -> Vec<usize> {
                let own = all.iter().copied();
                own.filter(|cpu| self.kept[*cpu] == keeper).collect()
            };
            let choices = [of(Some(unit.partition)), of(None)];
            let cpus = choices.iter().find(|cpus| !cpus.is_empty()).unwrap_or(&all);
            for cpu in cpus {
                seats[self.chips[*cpu]] += part / cpus.len() as f64;
            }
        }
        let on = seats.into_iter().enumerate();
        unit.seats = on.filter(|(_, share)| *share > 0.0).collect();
    }

    /// Processors that a unit may use, in order.
    fn usable(&self, unit: &Unit) -> Vec<usize> {
        let lots = unit
            .lots
            .iter()
            .flat_map(|(lot, _)| &self.lots[*lot].members);
        let mut usable: Vec<usize> = lots.map(|cpu| usize::from(*cpu)).collect();
        usable.sort_unstable();
        usable
    }

    /// Other processors of a core.
    pub(in crate::steady) fn beside_cpu(&self, cpu: usize) -> impl Iterator<Item = usize> {
        let first = cpu / self.siblings * self.siblings;
        (first..(first + self.siblings).min(self.kept.len())).filter(move |other| *other != cpu)
    }

    /// How many of them are somebody's for good.
    fn kept_beside(&self, cpu: usize) -> usize {
        let others = self.beside_cpu(cpu);
        others.filter(|other| self.kept[*other].is_some()).count()
    }

    /// Where more want a processor than there are, nobody keeps one.
    fn forget(&mut self, is_full: impl Fn(usize) -> bool) {
        for (cpu, kept) in self.kept.iter_mut().enumerate() {
            if is_full(cpu) {
                *kept = None;
            }
        }
    }
}

/// How many of a unit's threads always have work, and never rest.
fn stay_for_good(form: &Form, unit: &Unit) -> usize {
    match form.demand.arrivals {
        Arrivals::Always(threads, duty) if duty >= 1.0 && form.workloads.is_empty() => {
            let at_work = f64::from(form.filled.vps()).min(threads);
            (unit.share * at_work).round() as usize
        }
        _ => 0,
    }
}

/// These processors from one on and around.
fn from(cpus: &[usize], first: usize) -> impl Iterator<Item = usize> + '_ {
    let (below, above) = cpus.split_at(cpus.partition_point(|cpu| *cpu < first));
    above.iter().chain(below).copied()
}

/// The run queue with most left, the first of equals; none if none has one.
fn most(left: &[f64]) -> Option<usize> {
    let queues = (0..left.len()).rev().filter(|queue| left[*queue] > 0.0);
    queues.max_by(|a, b| left[*a].total_cmp(&left[*b]))
}
