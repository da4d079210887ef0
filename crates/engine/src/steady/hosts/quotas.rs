//! Who uses how much of a host's processors, within the quotas of control groups.
//!
//! While a group may run, all of its members that have work do, each on as many processors as there
//! are for it; then all of them stop, until the period is over. So what one uses of the quota goes
//! by how many of its threads run meanwhile, and weights tell only where processors are short:
//!
//! ```text
//! uses = min(wants, part of the time x runs meanwhile), all uses together = quota
//! ```
//! One that is stopped earlier, by a quota of its own, leaves the others longer. Members of other
//! groups that are stopped too have what they have on average.

use std::collections::BTreeMap;

use crate::hypervisor::policies::{fill, quota, share_out, Member};
use crate::spec::Cgroup;

/// Most steps at a time in which groups that are in each other's way come to rest: what is left is
/// done in the next step of the whole layout.
const STEPS: usize = 3;
/// Change of what one uses below which they have [processors].
const AT_REST: f64 = 1e-9;

/// Threads of a partition that may use the same processors.
#[derive(Clone, Copy, Debug)]
pub(in crate::steady) struct Part {
    /// Which of these sets.
    pub pool: usize,
    pub member: Member,
    /// How many may run at once, where what waited while they were stopped is made up for.
    pub at_once: f64,
}

/// What is shared out.
pub(in crate::steady) struct Sharing<'a> {
    pub cgroups: &'a [Cgroup],
    /// Processors of each set.
    pub cores: &'a [f64],
    pub parts: &'a [Part],
}

/// What each part uses, and what it has while no quota stops it.
pub(in crate::steady) struct Shares {
    pub used: Vec<f64>,
    pub running: Vec<f64>,
}

impl Sharing<'_> {
    /// What each part gets.
    pub fn share_out(&self) -> Shares {
        let mut used: Vec<f64> = self.parts.iter().map(|part| part.member.most).collect();
        let limits: Vec<Vec<usize>> = self.parts.iter().map(|part| self.limits(part)).collect();
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, limits) in limits.iter().enumerate() {
            if let Some(outermost) = limits.first() {
                groups.entry(*outermost).or_default().push(at);
            }
        }
        groups.retain(|_, parts| self.may_stop(parts, &limits));
        let mut running = vec![f64::NAN; used.len()];
        for _ in 0..STEPS {
            let mut change = 0.0_f64;
            for (group, parts) in &groups {
                let mut most = used.clone();
                parts
                    .iter()
                    .for_each(|at| most[*at] = self.parts[*at].at_once);
                let meanwhile = self.without_quotas(&most);
                parts.iter().for_each(|at| running[*at] = meanwhile[*at]);
                let before = used.clone();
                let all = quota(&self.cgroups[*group]);
                self.use_up((&limits, &running), (parts, 1), all, &mut used);
                for at in parts {
                    change = change.max((used[*at] - before[*at]).abs());
                }
            }
            if change < AT_REST {
                break;
            }
        }
        let used = self.without_quotas(&used);
        for (at, part) in self.parts.iter().enumerate() {
            // One that a cap of its own stops has what others leave it until then; what nothing
            // stops runs all of its time.
            if running[at].is_nan() && part.at_once > part.member.most {
                let mut most = used.clone();
                most[at] = part.at_once;
                running[at] = self.without_quotas(&most)[at];
            }
            running[at] = running[at].max(used[at]);
        }
        Shares { used, running }
    }

    /// Groups with a quota that a part is in, the outermost first.
    fn limits(&self, part: &Part) -> Vec<usize> {
        let mut limits: Vec<usize> = limits(self.cgroups, part.member.group).collect();
        limits.reverse();
        limits
    }

    /// Whether parts want more than one of the quotas that they are under.
    fn may_stop(&self, parts: &[usize], limits: &[Vec<usize>]) -> bool {
        let mut wanted: BTreeMap<usize, f64> = BTreeMap::new();
        for at in parts {
            for group in &limits[*at] {
                *wanted.entry(*group).or_default() += self.parts[*at].member.most;
            }
        }
        let mut each = wanted.iter();
        each.any(|(group, wanted)| *wanted > quota(&self.cgroups[*group]))
    }

    /// What each has if it uses so much at most and nothing stops groups: by weight where
    /// processors are short.
    fn without_quotas(&self, most: &[f64]) -> Vec<f64> {
        let rooms = vec![f64::INFINITY; self.cgroups.len()];
        let mut all = vec![0.0; self.parts.len()];
        for (pool, cores) in self.cores.iter().enumerate() {
            let there = (0..self.parts.len()).filter(|at| self.parts[*at].pool == pool);
            let there: Vec<usize> = there.collect();
            let members = there.iter().map(|at| Member {
                most: most[*at],
                ..self.parts[*at].member
            });
            let members: Vec<Member> = members.collect();
            let shares = share_out(self.cgroups, &rooms, &members, *cores);
            there
                .iter()
                .zip(shares)
                .for_each(|(at, own)| all[*at] = own);
        }
        all
    }

    /// Shares out so much among parts that run together until it is used up; of their groups those
    /// from this depth on may stop them earlier.
    fn use_up(
        &self,
        (limits, running): (&[Vec<usize>], &[f64]),
        (parts, depth): (&[usize], usize),
        cores: f64,
        used: &mut [f64],
    ) {
        let own = |at: usize| limits[at].get(depth).copied().ok_or(at);
        let mut takers: BTreeMap<Result<usize, usize>, Vec<usize>> = BTreeMap::new();
        for at in parts {
            takers.entry(own(*at)).or_default().push(*at);
        }
        let of = |parts: &Vec<usize>| {
            let runs: f64 = parts.iter().map(|at| running[*at]).sum();
            (runs.max(1e-12), self.most((limits, parts, depth)))
        };
        let wants: Vec<(f64, f64)> = takers.values().map(of).collect();
        let shares = fill(cores, &wants);
        for ((taker, parts), share) in takers.iter().zip(shares) {
            match taker {
                Ok(_) => self.use_up((limits, running), (parts, depth + 1), share, used),
                Err(at) => used[*at] = share,
            }
        }
    }

    /// The most that parts use which groups stop from this depth on.
    fn most(&self, (limits, parts, depth): (&[Vec<usize>], &[usize], usize)) -> f64 {
        let mut within: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut sum = 0.0;
        for at in parts {
            match limits[*at].get(depth) {
                Some(group) => within.entry(*group).or_default().push(*at),
                None => sum += self.parts[*at].member.most,
            }
        }
        let each = within.iter().map(|(group, parts)| {
            let most = self.most((limits, parts, depth + 1));
            most.min(quota(&self.cgroups[*group]))
        });
        sum + each.sum::<f64>()
    }
}

/// Those of a group and of the groups above it that have a quota.
pub(in crate::steady) fn limits(
    cgroups: &[Cgroup],
    group: Option<u16>,
) -> impl Iterator<Item = usize> + '_ {
    let above = |at: &u16| cgroups[usize::from(*at)].parent;
    let groups = std::iter::successors(group, above).map(usize::from);
    groups.filter(|at| cgroups[*at].quota_ns.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(parent: Option<u16>, cores: Option<f64>) -> Cgroup {
        Cgroup {
            name: String::new(),
            parent,
            weight: 100,
            quota_ns: cores.map(|of| (of * 1e8) as u64),
            period_ns: 100_000_000,
            burst_ns: 0,
            cpuset: None,
            idle: false,
        }
    }

    /// Loops in a group, each set of processors counted by itself.
    fn loops(pool: usize, group: u16, count: f64, weight: f64) -> Part {
        Part {
            pool,
            member: Member {
                group: Some(group),
                weight: weight * count,
                most: count,
            },
            at_once: count,
        }
    }

    fn used(cgroups: &[Cgroup], cores: &[f64], parts: &[Part]) -> Vec<f64> {
        let sharing = Sharing {
            cgroups,
            cores,
            parts,
        };
        sharing.share_out().used
    }

    fn near(found: &[f64], wanted: &[f64]) {
        let mut pairs = found.iter().zip(wanted);
        let all = pairs.all(|(found, wanted)| (found - wanted).abs() < 1e-6);
        assert!(all, "{found:?}, not {wanted:?}");
    }

    #[test]
    fn who_has_more_running_uses_more_of_a_quota_whatever_the_weights() {
        let groups = [group(None, Some(2.0))];
        for weight in [10.0, 100.0, 1000.0] {
            let parts = [loops(0, 0, 8.0, weight), loops(0, 0, 1.0, 100.0)];
            near(&used(&groups, &[16.0], &parts), &[16.0 / 9.0, 2.0 / 9.0]);
        }
    }

    #[test]
    fn weights_tell_where_processors_are_short() {
        let groups = [group(None, Some(2.0))];
        let parts = [loops(0, 0, 4.0, 300.0), loops(0, 0, 4.0, 100.0)];
        near(&used(&groups, &[4.0], &parts), &[1.5, 0.5]);
        // On processors of their own they do not.
        let parts = [loops(0, 0, 4.0, 300.0), loops(1, 0, 4.0, 100.0)];
        near(&used(&groups, &[4.0, 4.0], &parts), &[1.0, 1.0]);
        // Two on one processor run as one.
        let parts = [loops(0, 0, 2.0, 100.0), loops(1, 0, 3.0, 100.0)];
        near(&used(&groups, &[1.0, 3.0], &parts), &[0.5, 1.5]);
    }

    #[test]
    fn what_comes_and_goes_is_made_up_for_while_the_group_runs() {
        let groups = [group(None, Some(2.0))];
        let mut comes = loops(0, 0, 0.3, 100.0);
        comes.at_once = 4.0;
        near(
            &used(&groups, &[16.0], &[loops(0, 0, 8.0, 100.0), comes]),
            &[1.7, 0.3],
        );
        comes.member.most = 3.0;
        let both = used(&groups, &[16.0], &[loops(0, 0, 8.0, 100.0), comes]);
        near(&both, &[4.0 / 3.0, 2.0 / 3.0]);
    }

    #[test]
    fn who_is_stopped_earlier_leaves_others_longer() {
        let groups = [group(None, Some(2.0)), group(Some(0), Some(0.2))];
        let parts = [loops(0, 0, 3.0, 100.0), loops(0, 1, 3.0, 100.0)];
        near(&used(&groups, &[16.0], &parts), &[1.8, 0.2]);
        let inner = [
            loops(0, 0, 1.0, 100.0),
            loops(0, 1, 3.0, 100.0),
            loops(0, 1, 1.0, 100.0),
        ];
        near(&used(&groups, &[16.0], &inner), &[1.0, 0.15, 0.05]);
    }

    #[test]
    fn beside_others_a_group_has_its_weight_while_it_runs() {
        let groups = [group(None, Some(0.25)), group(None, None)];
        let parts = [loops(0, 0, 1.0, 100.0), loops(0, 1, 1.0, 100.0)];
        near(&used(&groups, &[1.0], &parts), &[0.25, 0.75]);
        let two = [group(None, Some(0.25)), group(None, Some(0.25))];
        near(&used(&two, &[1.0], &parts), &[0.25, 0.25]);
        near(&used(&two, &[0.4], &parts), &[0.2, 0.2]);
    }
}
