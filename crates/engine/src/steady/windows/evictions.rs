//! Who is thrown off a full node of PowerVM, and who is not.
//!
//! All virtual processors of a partition are entitled from the start of a window until its
//! entitlement is used up. Whoever wakes within its entitlement and finds its node full throws off
//! somebody who is beyond his: of another partition, whoever has been on its core longest. One
//! whose partition has had less of the excess than its weight says goes on nevertheless. Who is
//! thrown off comes back when a window begins: to its home chip while a core is idle there, else to
//! any core of the node that is idle then. From there it does not move on to its home chip, but for
//! when it is thrown off again.

use crate::ids::NodeId;
use crate::spec::{Eviction, Policy, Processors};
use crate::steady::layout::form::Form;
use crate::steady::layout::scope::Scope;
use crate::steady::layout::state::{Doing, State};

/// Chance below which nobody is ever missed.
const HARDLY_NEVER: f64 = 1e-9;
/// Share of the time with work in which one has a core that waits for a window now and then.
const WAITS: f64 = 0.99;
/// What happens less often than this is not found in a run [ns].
pub(in crate::steady) const LONG_NS: f64 = 1e9;
/// Excess for its weight, in parts of the mean, up to which a partition is behind all of the time,
/// and from which on it is ahead: those that are alike have the mean. Assumed: a run's excess
/// varies from window to window, so that one near the mean is ahead in some of them; the first from
/// 0 to 0.99.
const LEVEL: [f64; 2] = [0.8, 0.999];

impl State {
    /// Whether what is entitled may throw off others at home.
    pub(in crate::steady) fn evicts(&self) -> bool {
        let hypervisor = &self.machine.hypervisor;
        hypervisor.policy == Policy::Phyp && hypervisor.eviction == Eviction::OtherPartition
    }

    /// What those who use more than they are entitled to use of it, by weight; those with a soft
    /// cap compete with nobody else.
    pub(in crate::steady) fn mean_excess(
        &self,
        forms: &[&Form],
        those: impl Iterator<Item = usize>,
    ) -> f64 {
        let (mut excess, mut weights) = (0.0, 0.0);
        for at in those.filter(|at| !forms[*at].owns && !is_soft(forms[*at])) {
            let (more, weight) = self.excess_of(at, forms[at]);
            if more > 1e-6 {
                (excess, weights) = (excess + more, weights + weight);
            }
        }
        if weights > 0.0 {
            excess / weights
        } else {
            0.0
        }
    }

    /// Cores that a partition uses beyond what it is entitled to, and its weight for them.
    pub(in crate::steady) fn excess_of(&self, at: usize, form: &Form) -> (f64, f64) {
        let doing = &self.doing[at];
        match &form.partition.processors {
            Processors::Shared { weight, capped, .. } if !capped || doing.allowed < 1.0 => {
                let more = (1.0 - entitled_part(doing)) * doing.cores();
                (more, f64::from(*weight).max(1.0))
            }
            _ => (0.0, 1.0),
        }
    }

    /// Part of the time in which those of a partition that stay may be thrown off when they are
    /// beyond what they are entitled to. One that has less of the excess than its weight says is
    /// behind, and goes on; one that would have more if it went on is now ahead and now behind, so
    /// that it has about what its weight says.
    pub(in crate::steady) fn yields(&self, at: usize, form: &Form) -> f64 {
        if !self.evicts() {
            return 1.0;
        }
        self.is_ahead(at, form)
    }

    /// Part of the time in which a partition has had as much of the excess as its weight says.
    pub(in crate::steady) fn is_ahead(&self, at: usize, form: &Form) -> f64 {
        let (more, weight) = self.excess_of(at, form);
        if is_soft(form) {
            return f64::from(u8::from(more > 0.0));
        }
        let mean = weight * self.excess;
        if mean <= 0.0 {
            return f64::from(u8::from(more > mean));
        }
        let [behind, ahead] = LEVEL;
        ((more / mean - behind) / (ahead - behind)).clamp(0.0, 1.0)
    }

    /// Part of a window in which nobody at home on a node is beyond what he is entitled to, so that
    /// nobody can be thrown off there.
    pub(in crate::steady) fn all_within(
        &self,
        node: NodeId,
        forms: &[&Form],
        scope: &Scope,
    ) -> f64 {
        if !self.nodes.is_short(node.index()) {
            return 0.0;
        }
        let mut beyond: Vec<[f64; 2]> = Vec::new();
        for at in scope.there() {
            let (form, doing) = (forms[at], &self.doing[at]);
            let homes = form.homes_by_node.iter();
            let here = homes.filter(|(of, _)| *of == node.index());
            let share: f64 = here.map(|(_, share)| share).sum();
            let (more, _) = self.excess_of(at, form);
            if share > 0.0 && more > 0.0 && !form.owns {
                let may = if form.stays {
                    self.yields(at, form)
                } else {
                    1.0
                };
                let there = share * doing.cores() * (1.0 - doing.away[1]);
                let there = may * there;
                let told = if form.stays { by_chance(there) } else { there };
                beyond.push([entitled_part(doing), told]);
            }
        }
        none_beyond(&mut beyond)
    }

    /// Share of those that always have work that have been thrown off at some time and found their
    /// home chip full when they came back. They are on any core of the node, and stay there until
    /// they are thrown off again.
    pub(in crate::steady) fn roams(&self, at: usize, form: &Form) -> f64 {
        if !form.stays || !self.evicts() {
            return 0.0;
        }
        let nodes = form.homes_by_node.iter();
        let each = |(node, share): &(usize, f64)| share * self.nodes.thrown_each(*node);
        let often = LONG_NS * nodes.map(each).sum::<f64>();
        self.yields(at, form) * often / (1.0 + often) * self.doing[at].shut_out
    }

    /// Share of its comings to a node that are at the beginning of a window: who finds it full then
    /// is not there for the rest of it.
    pub(in crate::steady) fn once(&self, at: usize, form: &Form, back: f64) -> f64 {
        match (form.stays, self.evicts()) {
            (_, false) => 0.0,
            (false, true) if waits_at_a_cap(&self.doing[at], form) => 1.0,
            (false, true) => 1.0 - back,
            (true, true) if self.roams(at, form) > 0.0 => self.yields(at, form),
            (true, true) => 0.0,
        }
    }
}

/// Part of a window in which nobody is beyond what he is entitled to, of those that are from such a
/// part of it on, on so many cores on the mean: there is one of them unless by chance none is.
fn none_beyond(beyond: &mut [[f64; 2]]) -> f64 {
    beyond.sort_by(|one, other| one[0].total_cmp(&other[0]));
    let (mut all, mut since, mut there) = (0.0, 0.0, 0.0_f64);
    for [from, cores] in beyond.iter().copied().chain([[1.0, 0.0]]) {
        all += (from - since) * (-there).exp();
        (since, there) = (from, there + cores);
    }
    all
}

/// Cores on which those that come and go would as seldom leave nobody as one that always has work:
/// that is there for certain once it has a whole core.
fn by_chance(cores: f64) -> f64 {
    -(1.0 - cores).max(HARDLY_NEVER).ln()
}

/// Whether a partition waits for a window, now and then, at its cap.
pub(in crate::steady) fn waits_at_a_cap(doing: &Doing, form: &Form) -> bool {
    let capped = matches!(
        form.partition.processors,
        Processors::Shared { capped: true, .. }
    );
    capped && doing.served < WAITS * (1.0 - doing.load.stopped)
}

/// Whether a partition uses excess only while nobody else waits for it.
fn is_soft(form: &Form) -> bool {
    let processors = &form.partition.processors;
    matches!(processors, Processors::Shared { soft_cap: true, .. })
}

/// Share of a partition's core time to which it is entitled.
pub(in crate::steady) fn entitled_part(doing: &Doing) -> f64 {
    (doing.due / doing.cores().max(1e-9)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::{by_chance, none_beyond};

    #[test]
    fn nobody_is_beyond_until_the_first_of_many_is() {
        let of = |beyond: &[[f64; 2]]| none_beyond(&mut beyond.to_vec());
        assert!((of(&[]) - 1.0).abs() < 1e-12);
        assert!((of(&[[0.8, 30.0], [0.3, 20.0]]) - 0.3).abs() < 1e-6);
        // On half of a core it is there in four of ten windows.
        let seldom = 0.3 + 0.7 * (-0.5_f64).exp();
        assert!((of(&[[0.3, 0.5]]) - seldom).abs() < 1e-12);
        // A loop on a core is there for certain, on half of one half of the time.
        assert!((of(&[[0.2, by_chance(1.0)]]) - 0.2).abs() < 1e-6);
        assert!((of(&[[0.2, by_chance(0.5)]]) - 0.6).abs() < 1e-12);
    }
}
