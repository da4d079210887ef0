//! Different work on the threads of a core: how much of the pipelines the others want.
//!
//! With threads that are alike the pipelines are a closed queue of equal customers (see
//! [`Contention`](super::Contention)). With others, each thread is a customer of its own kind, and
//! the pipelines serve all that are there at the same time, an equal part each, as issue slots go
//! round. Such a queue has a product form (Baskett, Chandy, Muntz, Palacios, "Open, closed, and
//! mixed networks of queues with different classes of customers", 1975), so that its mean values
//! follow one from the other over the sets `S` of customers (Reiser and Lavenberg, "Mean-value
//! analysis of closed multichain queuing networks", 1980):
//!
//! ```text
//! R(i, S) = demand(i) (1 + Q(S without i))        time at the pipelines
//! q(i, S) = R(i, S) / (think(i) + R(i, S))        chance to be found there
//! Q(S)    = sum of q(i, S) over i in S            Q(nobody) = 0
//! ```
//! Only the proportion of demand to think time counts, not how long an instruction is. Eight
//! threads have 128 sets of others, so nothing has to be approximated.

/// Most threads beside one on a core.
pub const MOST_BESIDE: usize = 7;

/// How many of such others are at the pipelines on average, when nobody else is; of each its
/// demand and its think time [ns].
pub(super) fn queue(others: &[(f64, f64)]) -> f64 {
    debug_assert!(others.len() <= MOST_BESIDE);
    let mut found = [0.0; 1 << MOST_BESIDE];
    let sets = 1 << others.len();
    for set in 1..sets {
        found[set] = (0..others.len())
            .filter(|at| set & 1 << at != 0)
            .map(|at| {
                let (demand, think) = others[at];
                let there = demand * (1.0 + found[set ^ 1 << at]);
                there / (think + there)
            })
            .sum();
    }
    found[sets - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by its Markov chain: exponential demands and think times, all sets of those that
    /// are at the pipelines as states, and power iteration.
    fn by_chain(each: &[(f64, f64)]) -> f64 {
        let sets = 1_usize << each.len();
        let leaves = |set: usize, at: usize| {
            let (demand, think) = each[at];
            if set & 1 << at == 0 {
                1.0 / think
            } else {
                1.0 / demand / f64::from(set.count_ones())
            }
        };
        let fastest: f64 = each.iter().map(|(d, t)| 1.0 / d + 1.0 / t).sum();
        let mut chance = vec![1.0 / sets as f64; sets];
        for _ in 0..20_000 {
            let mut next = chance.clone();
            for (set, chance) in chance.iter().enumerate() {
                for at in 0..each.len() {
                    let flow = chance * leaves(set, at) / fastest;
                    next[set] -= flow;
                    next[set ^ 1 << at] += flow;
                }
            }
            chance = next;
        }
        let there = |(set, chance): (usize, &f64)| f64::from(set.count_ones()) * chance;
        chance.iter().enumerate().map(there).sum()
    }

    #[test]
    fn mean_values_are_those_of_the_markov_chain() {
        for each in [
            &[(0.3, 0.7)][..],
            &[(0.9, 0.1), (0.2, 0.8)],
            &[(0.9, 0.2), (2.0, 8.0), (0.5, 0.5)],
            &[(0.9, 0.2), (2.0, 8.0), (0.5, 0.5), (0.1, 3.0)],
        ] {
            assert!((queue(each) - by_chain(each)).abs() < 1e-9, "{each:?}");
        }
    }

    #[test]
    fn by_hand() {
        // One alone is there for its demand: 0.2 of 1. Two of 0.5: each stays 0.5 x 1.5 = 0.75 and
        // thinks 0.5, so that 2 x 0.75 / 1.25 are there.
        assert!((queue(&[(0.2, 0.8)]) - 0.2).abs() < 1e-15);
        assert!((queue(&[(0.5, 0.5); 2]) - 1.2).abs() < 1e-15);
        assert_eq!(queue(&[]), 0.0);
        assert_eq!(queue(&[(0.0, 1.0); 7]), 0.0);
        // Who never thinks is always there.
        assert!((queue(&[(1.0, 0.0); 7]) - 7.0).abs() < 1e-12);
    }

    #[test]
    fn order_and_length_of_instructions_do_not_matter() {
        let all = queue(&[(0.9, 0.2), (2.0, 8.0), (0.5, 0.5)]);
        assert!((queue(&[(5.0, 5.0), (0.9, 0.2), (0.2, 0.8)]) - all).abs() < 1e-12);
    }

    #[test]
    fn who_wants_more_is_more_in_the_way() {
        let beside = |share: f64| queue(&[(0.5, 0.5), (share, 1.0 - share), (0.1, 0.9)]);
        let all: Vec<f64> = (0..=10)
            .map(|tenth| beside(f64::from(tenth) / 10.0))
            .collect();
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{all:?}");
    }
}
