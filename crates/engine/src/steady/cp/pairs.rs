//! How many cores have both threads at work, by how many logical processors are.
//!
//! Who comes goes to a core that rests, else beside another; who leaves may leave a pair behind
//! while another core rests. Of `d` pairs of `b` at work on `n` cores, with `v` that come and go,
//!
//! ```text
//! one comes   d -> max(d, b + 1 - n)                    at the rate (v - b) x
//! one leaves  d -> d - 1 with the chance 2 d / b        at the rate b
//! ```
//!
//! `x` being what makes the mean of `b` what it is. So there are `b - n` pairs at least, and a few
//! more that have not parted yet. The mean of `d` at each `b` follows from those beside it, with
//! the pairs in excess at chance.

/// Times that the means are worked out from those beside them.
const SWEEPS: usize = 40;

/// Mean pairs at each number of logical processors at work.
#[derive(Clone, Debug, Default)]
pub(in crate::steady) struct Pairs {
    by: Vec<f64>,
}

impl Pairs {
    /// Of so many cores of two threads, for so many virtual processors of which so many are at
    /// work on the mean.
    pub fn of(cores: f64, among: f64, busy: f64) -> Self {
        let most = among.min(2.0 * cores).floor() as usize;
        let least = |at: usize| (at as f64 - cores).max(0.0);
        let mut by: Vec<f64> = (0..=most).map(least).collect();
        if among <= cores {
            return Self { by };
        }
        let busy = busy.clamp(1e-9, 0.999 * most as f64);
        let each = busy / (among - busy);
        let sweep = (1..=most).chain((1..most).rev());
        for at in (0..SWEEPS).flat_map(|_| sweep.clone()) {
            let count = at as f64;
            let at_least = f64::from(u8::from(count > cores));
            let alone = (least(at - 1) - by[at - 1]).exp();
            let came = by[at - 1] + at_least * alone;
            let comes = if at < most {
                (among - count) * each
            } else {
                0.0
            };
            let left = by
                .get(at + 1)
                .map_or(0.0, |of| of * (1.0 - 2.0 / (count + 1.0)));
            by[at] =
                ((count * came + comes * left) / (count + comes)).clamp(least(at), 0.5 * count);
        }
        Self { by }
    }

    /// Pairs while so many logical processors are at work.
    pub fn at(&self, busy: f64) -> f64 {
        let below = busy.max(0.0).floor();
        let of = |at: f64| {
            self.by
                .get(at as usize)
                .or(self.by.last())
                .copied()
                .unwrap_or(0.0)
        };
        of(below) + (of(below + 1.0) - of(below)) * (busy - below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Stream;

    #[test]
    fn with_a_core_for_each_there_are_no_pairs_and_all_are_paired_where_all_work() {
        assert_eq!(Pairs::of(4.0, 4.0, 3.9).at(4.0), 0.0);
        assert_eq!(Pairs::of(4.0, 20.0, 7.0).at(8.0), 4.0);
        assert_eq!(Pairs::default().at(3.0), 0.0);
    }

    #[test]
    fn pairs_grow_with_those_at_work_and_the_last_have_not_parted_at_once() {
        let pairs = Pairs::of(8.0, 24.0, 7.0);
        let by: Vec<f64> = (0..=16).map(|at| pairs.at(f64::from(at))).collect();
        assert!(by.windows(2).all(|two| two[1] >= two[0] - 1e-9), "{by:?}");
        assert!(by[1] < 1e-9 && by[7] > 0.2 && by[7] < 1.5, "{by:?}");
    }

    /// The same told by playing.
    #[test]
    fn it_does_what_a_played_twin_does() {
        for (cores, among, share) in [(4, 8, 0.4), (4, 20, 0.15), (8, 24, 0.3), (8, 12, 0.7)] {
            let mut stream = Stream::new(1, 0, "pairs");
            let mut dice = || stream.uniform();
            let (mut on, mut at) = (vec![0; cores], vec![None; among]);
            let (mut pairs, mut busy, turns) = (0.0, 0.0, 400_000);
            for _ in 0..turns {
                let one = (dice() * among as f64) as usize % among;
                if let Some(core) = at[one] {
                    if dice() < 1.0 - share {
                        (on[core], at[one]) = (on[core] - 1, None);
                    }
                } else if dice() < share {
                    let to = (0..cores).min_by_key(|core| on[*core]).expect("a core");
                    if on[to] < 2 {
                        (on[to], at[one]) = (on[to] + 1, Some(to));
                    }
                }
                pairs += on.iter().filter(|count| **count == 2).count() as f64;
                busy += on.iter().sum::<i32>() as f64;
            }
            let (pairs, busy) = (pairs / f64::from(turns), busy / f64::from(turns));
            // Those at work are spread about their mean like tossed coins, some turned away.
            let told = Pairs::of(cores as f64, among as f64, busy);
            let weights = spread(among, busy, 2 * cores);
            let told: f64 = weights
                .iter()
                .enumerate()
                .map(|(b, p)| p * told.at(b as f64))
                .sum();
            assert!(
                (told - pairs).abs() < 0.1 * pairs + 0.02,
                "{told} {pairs} {busy}"
            );
        }
    }

    fn spread(among: usize, busy: f64, most: usize) -> Vec<f64> {
        let x = busy / (among as f64 - busy);
        let mut weights = vec![1.0];
        for b in 1..=among.min(most) {
            weights.push(weights[b - 1] * x * (among + 1 - b) as f64 / b as f64);
        }
        let all: f64 = weights.iter().sum();
        weights.into_iter().map(|of| of / all).collect()
    }
}
