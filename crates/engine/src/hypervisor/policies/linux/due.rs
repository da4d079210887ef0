//! What every partition gets if all want as much as they can have: the tree of control groups
//! shared out by weight from the root down, within quotas, cpusets and threads.

use super::super::fill::fill;
use crate::spec::{Cgroup, Partition, Processors, Spec};

/// Weight of one thread that stands beside groups.
pub const THREAD: f64 = 100.0;

/// Who shares in a group's processors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member {
    /// Its group; none = the root.
    pub group: Option<u16>,
    /// Weight beside groups and other members.
    pub weight: f64,
    /// Most that it can use [cores].
    pub most: f64,
}

/// Cores due to each partition.
pub fn due(spec: &Spec, cores: f64) -> Vec<f64> {
    let member = |one: &Partition| {
        let threads = threads(one);
        Member {
            group: match &one.processors {
                Processors::Shared { host, .. } => host.cgroup,
                Processors::Dedicated { .. } => None,
            },
            weight: THREAD * threads,
            most: threads,
        }
    };
    let members: Vec<Member> = spec.partitions.iter().map(member).collect();
    let room = |group: &Cgroup| {
        let set = group.cpuset.as_ref().map(|set| set.len() as f64);
        set.map_or(quota(group), |set| set.min(quota(group)))
    };
    let rooms: Vec<f64> = spec.cgroups.iter().map(room).collect();
    let weights: Vec<f64> = spec.cgroups.iter().map(group_weight).collect();
    share_out(&spec.cgroups, (&weights, &rooms), &members, cores)
}

/// Weight of a group beside threads and other groups.
pub fn group_weight(group: &Cgroup) -> f64 {
    if group.idle {
        0.3
    } else {
        f64::from(group.weight)
    }
}

/// Cores that a group's quota comes to.
pub fn quota(group: &Cgroup) -> f64 {
    let quota = group.quota_ns.map(|q| q as f64 / group.period_ns as f64);
    quota.unwrap_or(f64::INFINITY)
}

/// Shares `cores` out from the root down, by `weights`; `rooms` are the most that each group may
/// use.
pub fn share_out(
    cgroups: &[Cgroup],
    (weights, rooms): (&[f64], &[f64]),
    members: &[Member],
    cores: f64,
) -> Vec<f64> {
    let mut due = vec![0.0; members.len()];
    let tree = Tree {
        cgroups,
        weights,
        rooms,
        members,
    };
    tree.share_out(None, cores, &mut due);
    due
}

struct Tree<'a> {
    cgroups: &'a [Cgroup],
    weights: &'a [f64],
    rooms: &'a [f64],
    members: &'a [Member],
}

impl Tree<'_> {
    /// Shares what a group gets out among its members and the groups in it.
    fn share_out(&self, group: Option<u16>, cores: f64, due: &mut [f64]) {
        let members: Vec<usize> = self.members_of(group).map(|(at, _)| at).collect();
        let groups: Vec<u16> = self.children(group).collect();
        let of_group = |at: &u16| (self.weights[usize::from(*at)], self.most(*at));
        let of_member = |at: &usize| (self.members[*at].weight, self.members[*at].most);
        let wants: Vec<(f64, f64)> = members
            .iter()
            .map(of_member)
            .chain(groups.iter().map(of_group))
            .collect();
        let shares = fill(cores, &wants);
        for (at, cores) in members.iter().zip(&shares) {
            due[*at] = *cores;
        }
        for (at, cores) in groups.iter().zip(&shares[members.len()..]) {
            self.share_out(Some(*at), *cores, due);
        }
    }

    /// Most that a group can use [cores].
    fn most(&self, at: u16) -> f64 {
        let within: f64 = self
            .members_of(Some(at))
            .map(|(_, member)| member.most)
            .chain(self.children(Some(at)).map(|child| self.most(child)))
            .sum();
        within.min(self.rooms[usize::from(at)])
    }

    fn members_of(&self, group: Option<u16>) -> impl Iterator<Item = (usize, &Member)> {
        let all = self.members.iter().enumerate();
        all.filter(move |(_, member)| member.group == group)
    }

    fn children(&self, group: Option<u16>) -> impl Iterator<Item = u16> + '_ {
        let all = (0..).zip(self.cgroups);
        all.filter(move |(_, of)| of.parent == group)
            .map(|(at, _)| at)
    }
}

fn threads(partition: &Partition) -> f64 {
    match &partition.processors {
        Processors::Shared { r#virtual, .. } => f64::from(*r#virtual),
        Processors::Dedicated { cores, .. } => cores.len() as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{group, spec};
    use super::*;

    #[test]
    fn weights_quotas_and_threads_bound_what_is_due() {
        let limited = Cgroup {
            quota_ns: Some(50_000_000),
            ..group("a", 300)
        };
        let spec = spec(
            2,
            vec![limited, group("b", 200), group("c", 100)],
            &[2, 2, 2],
        );
        let due = due(&spec, 2.0);
        assert!((due[0] - 0.5).abs() < 1e-9);
        assert!((due[1] - 1.0).abs() < 1e-9);
        assert!((due[2] - 0.5).abs() < 1e-9);
    }
}
