//! Who comes to a processor while a thread is away from it, and what they leave of its lines.
//!
//! What others displace hangs on when they run, not only on how long: who finds strangers there one
//! time in ten, for long, loses its lines one time in ten; who finds a little of them each time may
//! lose all. So the processor is followed from when it was left until its thread is back, after an
//! exponential time. Each kind of visitor comes to it while it is idle, and stays for an
//! exponential time; a line is lost at an even rate while somebody is there (`1 / turnover`).
//!
//! ```text
//! idle    (back + sum(comes)) q       = back p       + sum(leaves(k) q(k))
//! k       (back + leaves(k) + lost) q(k) = back p(k) + comes(k) q
//! ```
//! `p` are the chances when it was left, `q` those that a line is still there at the return, the
//! processor idle or in use by `k`.

/// Visitors of a kind: how often one comes to an idle processor in a nanosecond, and how long it
/// stays [ns].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::steady) struct Visit {
    pub per_ns: f64,
    pub stay_ns: f64,
}

impl Visit {
    /// Visitors who have a processor for a `share` of the time, in all for `all` of it.
    pub fn of(share: f64, all: f64, stay_ns: f64) -> Self {
        Self {
            per_ns: share / (1.0 - all.min(NEARLY_ALWAYS)) / stay_ns.max(1.0),
            stay_ns: stay_ns.max(1.0),
        }
    }
}

/// Share of the time beyond which a processor is as good as never idle.
const NEARLY_ALWAYS: f64 = 0.99;

/// What is left at a return.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::steady) struct Left {
    /// Chance that nobody has been there.
    pub untouched: f64,
    /// Share of the lines that are there still, mean over all returns.
    pub kept: f64,
}

impl Left {
    /// By what runs on the processor, and by what runs beside it.
    pub fn and(self, other: Self) -> Self {
        Self {
            untouched: self.untouched * other.untouched,
            kept: self.kept * other.kept,
        }
    }

    /// The same of several processors beside it.
    pub fn of(self, processors: usize) -> Self {
        let power = |of: f64| of.powi(processors as i32);
        Self {
            untouched: power(self.untouched),
            kept: power(self.kept),
        }
    }

    /// How often lines are lost, and the share that is then.
    pub fn lost(self) -> (f64, f64) {
        let often = 1.0 - self.untouched;
        (
            often,
            ((1.0 - self.kept) / often.max(1e-12)).clamp(0.0, 1.0),
        )
    }
}

/// What a thread finds of its own where it was so long ago; nothing if the processor is taken.
pub(in crate::steady) fn left_at_own(visits: &[Visit], away_ns: f64, turnover_ns: f64) -> Left {
    let (back, lost) = (1.0 / away_ns.max(1.0), 1.0 / turnover_ns);
    let come: f64 = visits.iter().map(|of| of.per_ns).sum();
    Left {
        untouched: back / (back + come),
        kept: back / (back + gone_for_good(visits, back + lost)),
    }
}

/// The same where some come with a chance, or others with another.
pub(in crate::steady) fn left_at_one_of(
    comers: &[(f64, Vec<Visit>)],
    away_ns: f64,
    turnover_ns: f64,
) -> Left {
    let left =
        |(chance, visits): &(f64, Vec<Visit>)| (*chance, left_at_own(visits, away_ns, turnover_ns));
    one_of(comers.iter().map(left))
}

/// The same by what others do on the processor beside it: they may have been there already when the
/// thread left, and may be when it is back.
pub(in crate::steady) fn left_by_sibling(visits: &[Visit], away_ns: f64, turnover_ns: f64) -> Left {
    let (back, lost) = (1.0 / away_ns.max(1.0), 1.0 / turnover_ns);
    let times = |of: &Visit| of.per_ns * of.stay_ns;
    let idle = 1.0 / (1.0 + visits.iter().map(times).sum::<f64>());
    let end = |of: &Visit| back + lost + 1.0 / of.stay_ns;
    let return_of = |of: &Visit| back * idle * times(of) / of.stay_ns / end(of);
    let from_idle = back * idle + visits.iter().map(return_of).sum::<f64>();
    let at_idle = from_idle / (back + gone_for_good(visits, back + lost));
    let with = |of: &Visit| (back * idle * times(of) + of.per_ns * at_idle) / end(of);
    let come: f64 = visits.iter().map(|of| of.per_ns).sum();
    Left {
        untouched: idle * back / (back + come),
        kept: at_idle + visits.iter().map(with).sum::<f64>(),
    }
}

/// The same where the processor beside it is one thread's, with a chance each, or nobody's.
pub(in crate::steady) fn left_by_one_of(
    neighbours: &[(f64, Visit)],
    away_ns: f64,
    turnover_ns: f64,
) -> Left {
    let left = |(chance, visit): &(f64, Visit)| {
        let visit = std::slice::from_ref(visit);
        (*chance, left_by_sibling(visit, away_ns, turnover_ns))
    };
    one_of(neighbours.iter().map(left))
}

/// What is left with these chances, and all with what these leave of 1.
fn one_of(each: impl Iterator<Item = (f64, Left)>) -> Left {
    let all = Left {
        untouched: 1.0,
        kept: 1.0,
    };
    each.fold(all, |sum, (chance, left)| Left {
        untouched: sum.untouched - chance * (1.0 - left.untouched),
        kept: sum.kept - chance * (1.0 - left.kept),
    })
}

/// Rate at which an idle processor gets a visitor who is there until one is back, or a line lost,
/// whichever is first: `ends` a nanosecond.
fn gone_for_good(visits: &[Visit], ends: f64) -> f64 {
    let of = |of: &Visit| of.per_ns * ends / (ends + 1.0 / of.stay_ns);
    visits.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOREVER: f64 = 1e18;

    #[test]
    fn a_line_that_nobody_displaces_is_lost_only_where_the_processor_is_taken() {
        // Taken at rate 1 / 100, left at 1 / 100, looked at at 1 / 50: idle with 3 of 4.
        let visits = [Visit {
            per_ns: 0.01,
            stay_ns: 100.0,
        }];
        let own = left_at_own(&visits, 50.0, f64::INFINITY);
        assert!((own.kept - 0.75).abs() < 1e-12 && (own.untouched - 2.0 / 3.0).abs() < 1e-12);
        let beside = left_by_sibling(&visits, 50.0, f64::INFINITY);
        assert!((beside.kept - 1.0).abs() < 1e-12 && (beside.untouched - 1.0 / 3.0).abs() < 1e-12);
        let all = Left {
            untouched: 1.0,
            kept: 1.0,
        };
        assert_eq!(left_at_own(&[], 50.0, 1.0), all);
        assert_eq!(left_by_sibling(&[], 50.0, 1.0), all);
        assert_eq!(all.lost(), (0.0, 0.0));
    }

    #[test]
    fn one_neighbour_takes_less_than_all_by_turns() {
        // A third of all beside one that is there a third of the time; or all, by turns.
        let one = Visit::of(0.3, 0.3, 1e6);
        let by_turns = Visit::of(0.1, 0.1, 1e6);
        let beside = left_by_one_of(&[(1.0 / 3.0, one)], 1e7, 1e6);
        let mixed = left_by_sibling(&[by_turns], 1e7, 1e6);
        assert!(beside.kept > 2.0 / 3.0 && beside.kept > mixed.kept + 0.1);
        assert!(beside.untouched >= 2.0 / 3.0 && beside.untouched > mixed.untouched);
        // Whoever is there for certain is as any visitor.
        let certain = left_by_one_of(&[(1.0, one)], 1e7, 1e6);
        let alone = left_by_sibling(&[one], 1e7, 1e6);
        assert!((certain.kept - alone.kept).abs() < 1e-12);
        assert!((certain.untouched - alone.untouched).abs() < 1e-12);
        // More neighbours take more, nobody takes nothing.
        let two = left_by_one_of(&[(1.0 / 3.0, one), (1.0 / 3.0, by_turns)], 1e7, 1e6);
        assert!(two.kept < beside.kept && left_by_one_of(&[], 1e7, 1e6).kept == 1.0);
    }

    #[test]
    fn as_much_time_of_others_costs_less_the_longer_they_stay() {
        let kept = |stay_ns: f64| {
            let visits = [Visit::of(0.1, 0.1, stay_ns)];
            [left_at_own, left_by_sibling].map(|left| left(&visits, 10e6, 1e6).kept)
        };
        for at in 0..2 {
            let by_stay = [1e4, 1e6, 1e7, 1e9].map(|stay_ns| kept(stay_ns)[at]);
            assert!(
                by_stay.windows(2).all(|pair| pair[0] < pair[1]),
                "{by_stay:?}"
            );
        }
        // Who is there for ever displaces all, or nothing.
        assert!((kept(FOREVER)[1] - (0.9 + 0.1 / 11.0)).abs() < 1e-6);
        // A little at a time is as if it were spread evenly.
        let even = 1.0 / (1.0 + 0.1 * 10.0);
        assert!((kept(1.0)[1] - even).abs() < 1e-6);
    }

    #[test]
    fn more_visitors_longer_away_and_quicker_caches_lose_more() {
        let kept = |share: f64, away_ns: f64, turnover_ns: f64| {
            let visits = [
                Visit::of(share, 1.5 * share, 3e5),
                Visit::of(0.5 * share, 1.5 * share, 5e6),
            ];
            [left_at_own, left_by_sibling].map(|left| left(&visits, away_ns, turnover_ns).kept)
        };
        let base = kept(0.1, 1e6, 1e6);
        for other in [
            kept(0.2, 1e6, 1e6),
            kept(0.1, 3e6, 1e6),
            kept(0.1, 1e6, 3e5),
        ] {
            assert!(
                other[0] < base[0] && other[1] < base[1],
                "{other:?} {base:?}"
            );
        }
    }
}
