//! Which of Xen's run queues virtual processors belong to.
//!
//! A new one counts as half busy and comes to the queue with the least load, however many
//! processors that has, of those with a processor that it prefers. Later two queues are evened out
//! as soon as their loads differ by a whole virtual processor, or by an eighth where one has as
//! many as the larger of the two has processors: by pushing one, pulling one or swapping two,
//! whichever leaves them nearest. So a small queue may be short of processors for good while a
//! larger one has some to spare.

use crate::steady::layout::form::Form;
use crate::steady::layout::host::Host;
use crate::steady::queues::demand::Arrivals;
use crate::steady::queues::halts::used;

/// Load that a new virtual processor is taken for.
const NEW: f64 = 0.5;
/// Difference from which on two queues are evened out, and where one of them is overloaded.
const APART: [f64; 2] = [1.0, 0.125];
/// Moves after which nobody looks any more: each makes two queues more alike.
const MOST_MOVES: usize = 1000;

/// A virtual processor: its unit, how busy it is, and its run queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::steady) struct Seat {
    pub unit: usize,
    pub busy: f64,
    pub queue: usize,
}

impl Host {
    /// Deals all virtual processors out to run queues, and their time to the lots there; whether
    /// that changed where any of them is. `busy` are those with work of each partition.
    pub(in crate::steady) fn deal_to_queues(&mut self, forms: &[&Form], busy: &[f64]) -> bool {
        let mut cpus = vec![0.0; self.queue_of.last().map_or(0, |last| last + 1)];
        self.lots.iter().for_each(|lot| cpus[lot.queue] += lot.cpus);
        let mut may = vec![vec![false; cpus.len()]; self.units.len()];
        for (unit, may) in self.units.iter().zip(&mut may) {
            let lots = unit.lots.iter().map(|(lot, _)| self.lots[*lot].queue);
            lots.for_each(|queue| may[queue] = true);
        }
        let mut seats = self.newcomers(forms, busy, &may);
        even_out(&mut seats, &cpus, &may);
        self.keep_in_queues(&seats);
        let mut changed = false;
        for (at, unit) in self.units.iter_mut().enumerate() {
            let mut by_queue = vec![0.0; cpus.len()];
            let own = seats.iter().filter(|seat| seat.unit == at);
            // While nothing is known of how busy they are, all count.
            own.for_each(|seat| by_queue[seat.queue] += seat.busy.max(1e-6));
            let all: f64 = by_queue.iter().sum();
            let usable = unit.lots.iter().map(|(lot, _)| &self.lots[*lot]);
            let mut room = vec![0.0; cpus.len()];
            usable.for_each(|lot| room[lot.queue] += lot.cpus);
            for (lot, share) in &mut unit.lots {
                let lot = &self.lots[*lot];
                let part = by_queue[lot.queue] / all * lot.cpus / room[lot.queue];
                changed |= (part - *share).abs() > 1e-3;
                *share = part;
            }
        }
        changed
    }

    /// Each virtual processor where it comes to at first.
    fn newcomers(&self, forms: &[&Form], busy: &[f64], may: &[Vec<bool>]) -> Vec<Seat> {
        let mut loads = vec![0.0; may.first().map_or(0, Vec::len)];
        let mut seats = Vec::new();
        for (at, unit) in self.units.iter().enumerate() {
            let form = forms[unit.partition];
            let each = each(form, busy[unit.partition]);
            let count = (unit.share * each.len() as f64).round().max(1.0) as usize;
            let likes = |queue: &usize| {
                let mut liked = unit.likes.iter();
                unit.likes.is_empty() || liked.any(|lot| self.lots[*lot].queue == *queue)
            };
            for place in 0..count {
                // Several units of a partition have every so manieth of its virtual processors.
                let of_all = place * each.len() / count;
                let usable = (0..loads.len()).filter(|queue| may[at][*queue] && likes(queue));
                let least = usable.reduce(|a, b| if loads[b] < loads[a] { b } else { a });
                let queue = least.unwrap_or(0);
                loads[queue] += NEW;
                seats.push(Seat {
                    unit: at,
                    busy: each[of_all.min(each.len() - 1)],
                    queue,
                });
            }
        }
        seats
    }
}

/// How busy each virtual processor is.
fn each(form: &Form, busy: f64) -> Vec<f64> {
    let vps = usize::from(form.partition.processors.count());
    if let Arrivals::Always(threads, duty) = form.demand.arrivals {
        let at_work = threads.min(vps as f64);
        let duty = match form.demand.phases {
            Some(_) => (busy / at_work).min(1.0),
            None => duty,
        };
        return (0..vps)
            .map(|at| duty * (at_work - at as f64).clamp(0.0, 1.0))
            .collect();
    }
    used(vps, form.homes.len(), busy.min(vps as f64), form.again())
}

/// Moves virtual processors until no queue wants to be evened out with the one that differs most
/// from it.
fn even_out(seats: &mut [Seat], cpus: &[f64], may: &[Vec<bool>]) {
    let mut loads = vec![0.0; cpus.len()];
    seats.iter().for_each(|seat| loads[seat.queue] += seat.busy);
    for _ in 0..MOST_MOVES {
        let moved = (0..cpus.len()).any(|own| {
            let apart = |at: usize| (loads[own] - loads[at]).abs();
            let others = (0..cpus.len()).filter(|at| *at != own);
            let most = others.reduce(|a, b| if apart(b) > apart(a) { b } else { a });
            most.is_some_and(|other| swap(seats, &mut loads, (own, other), (cpus, may)))
        });
        if !moved {
            return;
        }
    }
}

/// Evens two queues out, if they differ by enough and that brings them nearer.
fn swap(
    seats: &mut [Seat],
    loads: &mut [f64],
    (own, other): (usize, usize),
    (cpus, may): (&[f64], &[Vec<bool>]),
) -> bool {
    let overloaded = loads[own].max(loads[other]) >= cpus[own].max(cpus[other]);
    let difference = loads[own] - loads[other];
    // The rounding of sums is no difference.
    if difference.abs() < APART[usize::from(overloaded)] - 1e-9 {
        return false;
    }
    let movable = |from: usize, to: usize| -> Vec<Option<usize>> {
        let of = seats.iter().enumerate();
        let of = of.filter(|(_, seat)| seat.queue == from && may[seat.unit][to]);
        std::iter::once(None)
            .chain(of.map(|(at, _)| Some(at)))
            .collect()
    };
    let busy = |at: Option<usize>| at.map_or(0.0, |at: usize| seats[at].busy);
    let (pushed, pulled) = (movable(own, other), movable(other, own));
    let mut best = (difference.abs() - 1e-9, (None, None));
    for push in &pushed {
        for pull in &pulled {
            let left = (difference - 2.0 * busy(*push) + 2.0 * busy(*pull)).abs();
            if left < best.0 - 1e-12 {
                best = (left, (*push, *pull));
            }
        }
    }
    let (push, pull) = best.1;
    for (at, from, to) in [(push, own, other), (pull, other, own)] {
        if let Some(at) = at {
            seats[at].queue = to;
            loads[from] -= seats[at].busy;
            loads[to] += seats[at].busy;
        }
    }
    push.is_some() || pull.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seats(queues: &[usize], busy: f64) -> Vec<Seat> {
        let one = |queue: &usize| Seat {
            unit: 0,
            busy,
            queue: *queue,
        };
        queues.iter().map(one).collect()
    }

    fn counts(seats: &[Seat], queues: usize) -> Vec<usize> {
        let of = |queue: usize| seats.iter().filter(|seat| seat.queue == queue).count();
        (0..queues).map(of).collect()
    }

    #[test]
    fn queues_are_evened_out_by_load_whatever_processors_they_have() {
        let mut all = seats(&[0; 12], 1.0);
        even_out(&mut all, &[12.0, 6.0], &[vec![true; 2]]);
        assert_eq!(counts(&all, 2), [6, 6]);
        // Twenty are more than there are processors, and still the small one gets half of them.
        let mut all = seats(&[0; 20], 1.0);
        even_out(&mut all, &[12.0, 6.0], &[vec![true; 2]]);
        assert_eq!(counts(&all, 2), [10, 10]);
    }

    #[test]
    fn less_than_a_virtual_processor_apart_they_are_left_unless_overloaded() {
        let nine_to_one = [0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        let mut few = seats(&nine_to_one, 0.1);
        even_out(&mut few, &[8.0, 8.0], &[vec![true; 2]]);
        assert_eq!(counts(&few, 2), [9, 1]);
        even_out(&mut few, &[0.5, 0.5], &[vec![true; 2]]);
        assert_eq!(counts(&few, 2), [5, 5]);
    }

    #[test]
    fn pins_keep_virtual_processors_where_they_are() {
        let mut all = seats(&[0; 6], 1.0);
        even_out(&mut all, &[8.0, 8.0], &[vec![true, false]]);
        assert_eq!(counts(&all, 2), [6, 0]);
    }
}
