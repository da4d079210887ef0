//! How long interrupts wait for processors of which users ask more than these can see to.
//!
//! All that come to a processor wait in one queue, whoever they are for. So users of several
//! partitions wait there for the same time, which is as long as leaves no more to see to than the
//! processor can: who is not at work is away or waits (Little's law), so users who are back soon
//! are held back by it, and those who ask seldom hardly notice.

use std::collections::BTreeMap;

/// A wait as good as for ever [ns].
const FOREVER: f64 = 1e15;
/// Halvings after which a wait is found, and rounds in which those of several processors are that
/// the same users ask.
const HALVINGS: usize = 50;
const ROUNDS: usize = 12;
/// Part of a wait by which it may be missed.
const NEARLY: f64 = 1e-4;

/// Users of a partition, and what its interrupts ask for.
#[derive(Clone, Debug, Default)]
pub(super) struct Asker {
    /// Those that are not at work, and how long they are away, by workload [ns].
    pub users: Vec<(f64, f64)>,
    /// By part of an interrupt: processors that do it, and the time of each [ns].
    pub parts: Vec<(Vec<u16>, f64)>,
    /// How long an answer takes where nobody is held back [ns].
    pub answer_ns: f64,
}

impl Asker {
    /// Interrupts in a nanosecond, if each waits for so long besides.
    fn rate(&self, waits_ns: f64) -> f64 {
        let of = |(users, away_ns): &(f64, f64)| users / (away_ns + self.answer_ns + waits_ns);
        self.users.iter().map(of).sum()
    }

    /// How long one of its interrupts waits in all its parts, given those of each processor [ns].
    pub fn waits_ns(&self, each: &[f64]) -> f64 {
        let mean = |(cpus, _): &(Vec<u16>, f64)| {
            let all: f64 = cpus.iter().map(|cpu| each[usize::from(*cpu)]).sum();
            all / cpus.len() as f64
        };
        self.parts.iter().map(mean).sum()
    }

    /// Whether some processor has no room at all for its users.
    pub fn finds_none(&self, room: &[f64]) -> bool {
        let mut cpus = self.parts.iter().flat_map(|(cpus, _)| cpus);
        !self.users.is_empty() && cpus.any(|cpu| room[usize::from(*cpu)] <= 0.0)
    }

    /// Time that one of its interrupts takes of a processor on the mean [ns].
    fn takes_ns(&self, cpu: u16) -> f64 {
        let there = self.parts.iter().filter(|(cpus, _)| cpus.contains(&cpu));
        there.map(|(cpus, ns)| ns / cpus.len() as f64).sum()
    }
}

/// How long interrupts wait at each processor because users would ask for more than the `room` that
/// it has for theirs [ns].
pub(super) fn waits(askers: &[Asker], room: &[f64]) -> Vec<f64> {
    let mut waits = vec![0.0; room.len()];
    let alike = alike(askers, room.len());
    for _ in 0..ROUNDS {
        let mut change = 0.0_f64;
        for cpus in &alike {
            let before = waits[cpus[0]];
            let now = wait(askers, (cpus, room[cpus[0]]), &mut waits);
            change = change.max((now - before).abs() / now.max(1.0));
        }
        if change < NEARLY {
            break;
        }
    }
    waits
}

/// Processors of which the same interrupts ask the same.
fn alike(askers: &[Asker], cpus: usize) -> Vec<Vec<usize>> {
    let mut found: BTreeMap<Vec<u64>, Vec<usize>> = BTreeMap::new();
    for cpu in 0..cpus {
        let asks = askers.iter().map(|asker| asker.takes_ns(cpu as u16));
        let asks: Vec<u64> = asks.map(f64::to_bits).collect();
        found.entry(asks).or_default().push(cpu);
    }
    found.into_values().collect()
}

/// The wait at some processors that are alike, given those at the others.
fn wait(askers: &[Asker], (cpus, room): (&[usize], f64), waits: &mut [f64]) -> f64 {
    let mut asked = |ns: f64| -> f64 {
        cpus.iter().for_each(|cpu| waits[*cpu] = ns);
        let of = |of: &Asker| of.rate(of.waits_ns(waits)) * of.takes_ns(cpus[0] as u16);
        askers.iter().map(of).sum()
    };
    let found = if asked(0.0) <= room {
        0.0
    } else if asked(FOREVER) >= room {
        FOREVER
    } else {
        let (mut low, mut high) = (1.0_f64, FOREVER);
        for _ in 0..HALVINGS {
            let middle = (low * high).sqrt();
            if asked(middle) > room {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    };
    cpus.iter().for_each(|cpu| waits[*cpu] = found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asker(users: f64, away_ns: f64, cpus: &[u16]) -> Asker {
        Asker {
            users: vec![(users, away_ns)],
            parts: vec![(cpus.to_vec(), 1_000.0)],
            answer_ns: 1_000.0,
        }
    }

    #[test]
    fn all_wait_alike_until_a_processor_can_see_to_what_they_ask() {
        let two = [asker(100.0, 49_000.0, &[0]), asker(1.0, 1e8, &[0])];
        let found = waits(&two, &[0.5, 0.5]);
        assert_eq!(found[1], 0.0);
        // 100 users who may ask 5 times in 10 us: 200 us each, of which they are away for 50.
        assert!((found[0] / 150_000.0 - 1.0).abs() < 0.01, "{found:?}");
        let seldom = two[1].rate(found[0]) / two[1].rate(0.0);
        assert!(seldom > 0.99, "{seldom}");
        assert_eq!(waits(&two, &[3.0, 0.5]), [0.0, 0.0]);
        assert_eq!(waits(&two, &[0.0, 0.5])[0], FOREVER);
    }

    #[test]
    fn several_processors_are_each_left_with_what_they_can_see_to() {
        let mut some = vec![
            asker(100.0, 49_000.0, &[0, 1]),
            asker(60.0, 59_000.0, &[1]),
            asker(10.0, 49_000.0, &[2]),
        ];
        // Who waits for the second asks no more of the first than it can see to.
        let found = waits(&some, &[0.6; 3]);
        assert!(found[1] > 0.0 && found[0] == 0.0 && found[2] == 0.0);
        some.push(asker(80.0, 49_000.0, &[0]));
        let found = waits(&some, &[0.6; 3]);
        assert!(found[0] > 0.0 && found[1] > 0.0 && found[2] == 0.0);
        for cpu in 0..2 {
            let each = some.iter();
            let asked: f64 = each
                .map(|of| of.rate(of.waits_ns(&found)) * of.takes_ns(cpu))
                .sum();
            assert!((asked / 0.6 - 1.0).abs() < 0.01, "{cpu}: {asked}");
        }
    }
}
