//! How many of a partition run at once where quotas and caps stop all of them together: what meets
//! at a lock, of which the mean over running and resting tells too little.
//!
//! While no limit stops it a partition has what it would have without one, beside others that these
//! limits stop too and that have then what they have on average. CFS hands a quota out in slices,
//! one to a processor. Of `w` processors all have one in each whole round; in the last round only
//! `f w` get one, and the others rest already. Who runs meets `(r + f^2) / (r + f)` of `w` then,
//! with `r` whole rounds and a part `f` of one.

use crate::hypervisor::policies::{share_out, Member};
use crate::spec::{Cgroup, Policy};
use crate::steady::layout::form::Form;
use crate::steady::layout::host::Host;

/// What is shared out among those that may use the same processors.
pub(in crate::steady) struct Stops<'a> {
    pub cgroups: &'a [Cgroup],
    pub members: &'a [Member],
    /// Most that each group may use.
    pub rooms: &'a [f64],
    /// What each member gets.
    pub shares: &'a [f64],
}

impl Stops<'_> {
    /// What a member that wants so much has while none of its limits stops it.
    pub fn unlimited(&self, index: usize, wants: f64, cores: f64) -> f64 {
        let (mut members, mut rooms) = (self.members.to_vec(), self.rooms.to_vec());
        let limits: Vec<usize> = limits(self.cgroups, members[index].group).collect();
        for group in &limits {
            rooms[*group] = f64::INFINITY;
        }
        for (member, share) in members.iter_mut().zip(self.shares) {
            if self::limits(self.cgroups, member.group).any(|group| limits.contains(&group)) {
                member.most = member.most.min(*share);
            }
        }
        members[index].most = wants;
        share_out(self.cgroups, &rooms, &members, cores)[index]
    }
}

/// Those of a group and of the groups above it that have a quota.
fn limits(cgroups: &[Cgroup], group: Option<u16>) -> impl Iterator<Item = usize> + '_ {
    let above = |at: &u16| cgroups[usize::from(*at)].parent;
    let groups = std::iter::successors(group, above).map(usize::from);
    groups.filter(|at| cgroups[*at].quota_ns.is_some())
}

/// Whom one of a partition meets on average over those that run while the first slices last: fewer
/// in the last round of slices. `unlimited` is what partitions with locks have then.
pub(in crate::steady) fn last_slices(
    host: &Host,
    (forms, wants): (&[&Form], &[f64]),
    unlimited: &[f64],
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
        each.map(|of| {
            if unlimited[of] > 0.0 {
                unlimited[of]
            } else {
                wants[of]
            }
        })
        .sum()
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
