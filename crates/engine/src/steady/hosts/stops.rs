//! What it comes to that quotas and caps stop all of a partition together: how often they stop one,
//! who runs at the same time, and how many run at once, which is what meets at a lock: of these the
//! mean over running and resting tells too little.
//!
//! While no limit stops it a partition has what it would have without one (`quotas.rs`). CFS hands
//! a quota out in slices, one to a processor. Of `w` processors all have one in each whole round;
//! in the last round only `f w` get one, and the others rest already. Who runs meets
//! `(r + f^2) / (r + f)` of `w` then, with `r` whole rounds and a part `f` of one.

use crate::spec::Policy;
use crate::steady::hosts::quotas::limits;
use crate::steady::layout::form::Form;
use crate::steady::layout::host::Host;
use crate::steady::layout::state::Doing;

/// Stops of a partition's threads: how often in a nanosecond one of those with work is stopped, and
/// for how long [ns].
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::steady) struct Stops {
    pub per_ns: f64,
    pub ns: f64,
}

impl Stops {
    /// All of them in each period for the rest of it; of several periods the longest.
    pub fn of(host: &Host, doing: &Doing, form: &Form) -> Self {
        let periods = limits(&host.cgroups, form.threads.group);
        let periods = periods.map(|group| host.cgroups[group].period_ns as f64);
        let own = form.threads.cap.is_finite().then_some(host.cap_period_ns);
        let period_ns = periods.chain(own).fold(0.0, f64::max);
        if doing.limited >= 1.0 || period_ns <= 0.0 {
            return Self::default();
        }
        Self {
            per_ns: doing.load.vps / period_ns,
            ns: (1.0 - doing.limited) * period_ns,
        }
    }
}

/// By how much more another partition runs while one does than on the mean: all those that the same
/// limit stops run together, and who is stopped earlier for a part of that time.
pub(in crate::steady) fn together(
    host: &Host,
    (doing, forms): (&[Doing], &[&Form]),
    one: usize,
    other: usize,
) -> f64 {
    let [own, others] = [one, other].map(|at| forms[at].threads.group);
    let mut shared = limits(&host.cgroups, own);
    let has = |limit: usize| limits(&host.cgroups, others).any(|of| of == limit);
    if one == other || shared.any(has) {
        1.0 / doing[one].limited.max(doing[other].limited)
    } else {
        1.0
    }
}

/// Whom one of a partition meets on average over those that run while the first slices last: fewer
/// in the last round of slices. `unlimited` is what partitions have then.
pub(in crate::steady) fn last_slices(
    host: &Host,
    (forms, unlimited): (&[&Form], &[f64]),
    at: usize,
) -> f64 {
    if host.policy != Policy::Linux {
        return 1.0;
    }
    let width = |group: usize| -> f64 {
        let within = |of: &usize| {
            let own = forms[*of].threads.group;
            limits(&host.cgroups, own).any(|limit| limit == group)
        };
        let each = (0..forms.len()).filter(within);
        each.map(|of| unlimited[of]).sum()
    };
    let rounds = |group: usize| {
        let quota = host.cgroups[group].quota_ns.unwrap_or(u64::MAX) as f64;
        quota / (host.slice_ns * width(group).max(1e-12))
    };
    let fewest = limits(&host.cgroups, forms[at].threads.group).map(rounds);
    met(fewest.fold(f64::INFINITY, f64::min))
}

/// The same after so many rounds of slices.
fn met(rounds: f64) -> f64 {
    if rounds.is_infinite() {
        return 1.0;
    }
    let (whole, part) = (rounds.floor(), rounds.fract());
    (whole + part * part) / rounds.max(1e-12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_the_last_round_of_slices_fewer_meet() {
        assert!((met(5.0) - 1.0).abs() < 1e-12);
        // Sixteen for two rounds, eight for one: (2 x 256 + 64) / (2 x 16 + 8) = 14.4.
        assert!((met(2.5) - 0.9).abs() < 1e-12);
        // With fewer slices than processors no more run than there are slices; that they are never
        // fewer than on average is seen to where this is used.
        assert!((met(0.25) - 0.25).abs() < 1e-12);
        assert!((met(f64::INFINITY) - 1.0).abs() < 1e-12);
    }
}
