//! What weighs how much where groups have members on several sets of processors.
//!
//! Linux divides a group's weight among processors as it has load on each: its members weigh
//! together what it weighs, wherever they are. So a thread weighs
//! `own x weight of its group / load of that group`, and so on up to the root, whichever processor
//! it is on; and on some of the processors a group has the part of its weight that its load there
//! is of all its load.

use crate::hypervisor::policies::group_weight;
use crate::spec::Cgroup;

/// What some threads add to the load of their group, on one set of processors.
#[derive(Clone, Copy, Debug)]
pub(in crate::steady) struct Load {
    pub pool: usize,
    pub group: Option<u16>,
    /// Their weight within the group.
    pub weight: f64,
}

/// What each group's members weigh together, and what it weighs itself, on some processors.
struct Weighed {
    loads: Vec<f64>,
    weights: Vec<f64>,
}

impl Weighed {
    /// What members add to each group in all: each of those that have any load has all its weight.
    fn of_all(cgroups: &[Cgroup], direct: Vec<f64>) -> Self {
        Self::of(cgroups, direct, |group, load| {
            if load > 0.0 {
                group_weight(&cgroups[group])
            } else {
                0.0
            }
        })
    }

    fn of(cgroups: &[Cgroup], direct: Vec<f64>, weight: impl Fn(usize, f64) -> f64) -> Self {
        let depth = |at: &usize| {
            let parent = |at: &usize| cgroups[*at].parent.map(usize::from);
            std::iter::successors(Some(*at), parent).count()
        };
        let mut upward: Vec<usize> = (0..cgroups.len()).collect();
        upward.sort_by_key(|at| std::cmp::Reverse(depth(at)));
        let mut all = Self {
            loads: direct,
            weights: vec![0.0; cgroups.len()],
        };
        for at in upward {
            all.weights[at] = weight(at, all.loads[at]);
            if let Some(parent) = cgroups[at].parent {
                all.loads[usize::from(parent)] += all.weights[at];
            }
        }
        all
    }
}

fn direct<'a>(cgroups: &[Cgroup], loads: impl Iterator<Item = &'a Load>) -> Vec<f64> {
    let mut direct = vec![0.0; cgroups.len()];
    for load in loads {
        if let Some(group) = load.group {
            direct[usize::from(group)] += load.weight;
        }
    }
    direct
}

/// What each group weighs on each of so many sets of processors.
pub(in crate::steady) fn by_pool(
    cgroups: &[Cgroup],
    loads: &[Load],
    pools: usize,
) -> Vec<Vec<f64>> {
    let all = Weighed::of_all(cgroups, direct(cgroups, loads.iter()));
    let on = |pool: usize| {
        let here = direct(cgroups, loads.iter().filter(|load| load.pool == pool));
        let part = |at: usize, load: f64| all.weights[at] * load / all.loads[at].max(1e-300);
        Weighed::of(cgroups, here, part).weights
    };
    (0..pools).map(on).collect()
}

/// What each of these weighs beside all others, wherever it is.
pub(in crate::steady) fn beside_all(cgroups: &[Cgroup], loads: &[Load]) -> Vec<f64> {
    let all = Weighed::of_all(cgroups, direct(cgroups, loads.iter()));
    let above = |at: &u16| cgroups[usize::from(*at)].parent;
    let of = |load: &Load| {
        let groups = std::iter::successors(load.group, above).map(usize::from);
        let parts = groups.map(|at| all.weights[at] / all.loads[at].max(1e-300));
        load.weight * parts.product::<f64>()
    };
    loads.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(parent: Option<u16>, weight: u32) -> Cgroup {
        Cgroup {
            name: String::new(),
            parent,
            weight,
            quota_ns: None,
            period_ns: 100_000_000,
            burst_ns: 0,
            cpuset: None,
            idle: false,
        }
    }

    fn load(pool: usize, group: u16, weight: f64) -> Load {
        Load {
            pool,
            group: Some(group),
            weight,
        }
    }

    #[test]
    fn a_groups_weight_goes_where_its_members_are() {
        let groups = [group(None, 300), group(None, 100)];
        let loads = [load(0, 0, 100.0), load(1, 0, 200.0), load(1, 1, 50.0)];
        assert_eq!(by_pool(&groups, &loads, 2), [[100.0, 0.0], [200.0, 100.0]]);
        assert_eq!(beside_all(&groups, &loads), [100.0, 200.0, 100.0]);
    }

    #[test]
    fn groups_in_groups_weigh_together_what_the_outermost_does() {
        // The inner ones are listed first: order is no depth.
        let groups = [group(Some(2), 100), group(Some(2), 300), group(None, 50)];
        let loads = [load(0, 0, 100.0), load(1, 1, 100.0), load(1, 1, 100.0)];
        assert_eq!(beside_all(&groups, &loads), [12.5, 18.75, 18.75]);
        let by_pool = by_pool(&groups, &loads, 2);
        assert_eq!(by_pool, [[100.0, 0.0, 12.5], [0.0, 300.0, 37.5]]);
    }
}
