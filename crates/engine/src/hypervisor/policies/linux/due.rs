//! What every partition gets if all want as much as they can have: the tree of control groups
//! shared out by weight from the root down, within quotas, cpusets and threads.

use super::super::fill::fill;
use crate::spec::{Cgroup, Partition, Processors, Spec};

/// Weight of one thread that stands beside groups.
const THREAD: f64 = 100.0;

/// Cores due to each partition.
pub fn due(spec: &Spec, cores: f64) -> Vec<f64> {
    let mut due = vec![0.0; spec.partitions.len()];
    share_out(spec, None, cores, &mut due);
    due
}

/// Shares what a group gets out among its partitions and the groups in it.
fn share_out(spec: &Spec, group: Option<u16>, cores: f64, due: &mut [f64]) {
    let partitions: Vec<usize> = members(spec, group).map(|(at, _)| at).collect();
    let groups: Vec<u16> = children(spec, group).map(|(at, _)| at).collect();
    let of_partition = |at: &usize| {
        let threads = threads(&spec.partitions[*at]);
        (THREAD * threads, threads)
    };
    let of_group = |at: &u16| {
        let group = &spec.cgroups[usize::from(*at)];
        let weight = if group.idle {
            0.3
        } else {
            f64::from(group.weight)
        };
        (weight, most(spec, *at))
    };
    let wants = partitions.iter().map(of_partition);
    let wants: Vec<(f64, f64)> = wants.chain(groups.iter().map(of_group)).collect();
    let shares = fill(cores, &wants);
    for (at, cores) in partitions.iter().zip(&shares) {
        due[*at] = *cores;
    }
    for (at, cores) in groups.iter().zip(&shares[partitions.len()..]) {
        share_out(spec, Some(*at), *cores, due);
    }
}

/// Most that a group can use [cores].
fn most(spec: &Spec, at: u16) -> f64 {
    let group = &spec.cgroups[usize::from(at)];
    let within: f64 = members(spec, Some(at))
        .map(|(_, p)| threads(p))
        .chain(children(spec, Some(at)).map(|(child, _)| most(spec, child)))
        .sum();
    let quota = group.quota_ns.map(|q| q as f64 / group.period_ns as f64);
    let set = group.cpuset.as_ref().map(|set| set.len() as f64);
    let limits = quota.into_iter().chain(set);
    limits.fold(within, f64::min)
}

fn threads(partition: &Partition) -> f64 {
    match &partition.processors {
        Processors::Shared { r#virtual, .. } => f64::from(*r#virtual),
        Processors::Dedicated { cores, .. } => cores.len() as f64,
    }
}

fn members(spec: &Spec, group: Option<u16>) -> impl Iterator<Item = (usize, &Partition)> {
    let of = move |p: &Partition| match &p.processors {
        Processors::Shared { host, .. } => host.cgroup == group,
        Processors::Dedicated { .. } => group.is_none(),
    };
    let all = spec.partitions.iter().enumerate();
    all.filter(move |(_, p)| of(p))
}

fn children(spec: &Spec, group: Option<u16>) -> impl Iterator<Item = (u16, &Cgroup)> {
    let all = (0..).zip(&spec.cgroups);
    all.filter(move |(_, g)| g.parent == group)
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
