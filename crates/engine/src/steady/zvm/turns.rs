//! How long virtual processors wait for turns beside machines that are held back, which keep all
//! logical processors at work.
//!
//! One that wakes with a claim to its share pushes off one of those, and begins at once. After each
//! slice of its own others come whose deadlines are earlier: deadlines move on by time used over
//! what a share is worth, so it is off for as long as leaves it its part.

use crate::steady::cp::figures::Cp;
use crate::steady::cp::guests::{Guests, Kind};
use crate::steady::queues::rounds::{Rounds, NEARLY_ALL};

/// What machines wait that are not held back.
#[derive(Debug)]
pub(in crate::steady) struct Turns {
    /// How much longer a transaction of each kind takes for the turns of others.
    pub slower: Vec<f64>,
    /// The same of all that is done: who waits for a turn has no processor.
    pub thinned: f64,
}

impl Turns {
    /// Where these are held back, on so many logical processors. `times` are those of a
    /// transaction [ns].
    pub fn of(guests: &Guests, held: &[Option<f64>], (times, cp): (&[f64], &Cp), lps: f64) -> Self {
        let mut all = Self {
            slower: vec![1.0; times.len()],
            thinned: 1.0,
        };
        let kinds = || guests.kinds.iter().zip(held).enumerate();
        let stay = kinds().filter(|(_, (_, held))| held.is_some());
        let staying: f64 = stay.map(|(_, (kind, _))| processors(kind)).sum();
        if staying < lps - 1e-9 {
            return all;
        }
        let slice_ns = guests.zvm.minor_slice_ns as f64;
        let ready = |at: usize| cp.kinds.get(at).map_or(0.0, |now| now.ready);
        let weighs = |(at, (kind, held)): (usize, (&Kind, &Option<f64>))| {
            let there = match held {
                Some(_) => f64::from(kind.cpus),
                None => ready(at),
            };
            f64::from(kind.count) * there * weight(kind)
        };
        let weights: f64 = kinds().map(weighs).sum();
        let (mut done, mut longer) = (0.0, 0.0);
        for (at, (kind, _)) in kinds().filter(|(_, (_, held))| held.is_none()) {
            let own = weight(kind);
            let asleep = (1.0 - ready(at) / f64::from(kind.cpus)).max(0.0);
            let others = ((weights + own * asleep) / (lps * own).max(1e-12) - 1.0).max(0.0);
            let rounds = Rounds {
                first_ns: 0.0,
                credit: None,
                on_ns: slice_ns * others.recip().max(1.0),
                off_ns: slice_ns * others.max(if others > 0.0 { 1.0 } else { 0.0 }),
            };
            let now = cp.kinds.get(at).copied().unwrap_or_default();
            let wakes = if now.per_ns > 0.0 {
                now.found_idle
            } else {
                1.0
            };
            let least = now.per_ns * times[at] / (NEARLY_ALL * f64::from(kind.cpus));
            let served = rounds.served(times[at] / wakes.max(0.02));
            all.slower[at] = served.max(least.min(1.0)).recip();
            let work = f64::from(kind.count) * now.per_ns * times[at];
            done += work;
            longer += work * all.slower[at];
        }
        if done > 0.0 {
            all.thinned = longer / done;
        }
        all
    }
}

/// Virtual processors of all machines of a kind.
fn processors(kind: &Kind) -> f64 {
    f64::from(kind.count * kind.cpus)
}

/// What one of its virtual processors weighs.
fn weight(kind: &Kind) -> f64 {
    kind.share / f64::from(kind.cpus)
}
