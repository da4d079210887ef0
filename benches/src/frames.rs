//! Whole frames under mixed load: the one of 256 cores, and frames of other sizes with as much to
//! do on each core.

use homenode_engine::spec::{Distribution, Partition, Spec, Workload};

use crate::scenarios::{self, partition, set_capped, set_cores, set_home, CORES_PER_NODE};

const MS: u64 = 1_000_000;
/// Virtual processors of a partition.
const VPS: u16 = 6;

/// 256 cores, 200 partitions and 1,200 virtual processors.
pub fn full_frame() -> Spec {
    frame(256, &[VPS; 200])
}

/// So many virtual processors, five on a core: what is left of a division by six is a smaller
/// partition. The full frame has 4.7 on a core; with as few, 10,000 need more books than a machine
/// may have.
pub fn of_vps(vps: u16) -> Spec {
    let mut sizes = vec![VPS; usize::from(vps / VPS)];
    sizes.extend((vps % VPS > 0).then_some(vps % VPS));
    let mut spec = frame(vps / 5, &sizes);
    spec.duration_ns = (1_500_000 * MS / u64::from(vps)).clamp(250 * MS, 4_500 * MS);
    spec
}

/// Cores and partitions, by their virtual processors.
pub fn frame(cores: u16, sizes: &[u16]) -> Spec {
    // What is left of the last book is nobody's home.
    let nodes = (cores / CORES_PER_NODE).max(1);
    let partitions = (0..).zip(sizes);
    let mut spec = scenarios::spec(
        "full",
        partitions.map(|(i, vps)| mixed(i, *vps, nodes)).collect(),
    );
    set_cores(&mut spec.machine, cores);
    spec
}

/// Of ten partitions six run transactions, two have users, one computes and one does nothing but
/// run its daemons.
fn mixed(i: u16, vps: u16, nodes: u16) -> Partition {
    let workload = match i % 10 {
        0..=5 => scenarios::transactions(40.0),
        6 | 7 => Workload::Users {
            count: 40,
            think_ns: 1_000 * MS,
            bursts: 90.5,
            wait_ns: 5 * MS,
            burst_work: Distribution::Exponential,
            think: Distribution::Exponential,
        },
        8 => Workload::Loops {
            count: 3,
            endless: true,
            busy_ns: 0,
            rest_ns: 0,
        },
        _ => Workload::Idle,
    };
    let mut partition = partition(format!("lpar{i}"), 1.0, vps, workload);
    set_capped(&mut partition, i % 20 == 8);
    set_home(&mut partition, i % nodes..i % nodes + 1);
    partition
}

/// The same load of transactions and users a tenth as long that come ten times as often: it is
/// there within a tenth of the time, for runs that are too short for the other.
pub fn quick(mut spec: Spec) -> Spec {
    for partition in &mut spec.partitions {
        match &mut partition.workload {
            Workload::Transactions {
                rate_per_s, bursts, ..
            } => (*rate_per_s, *bursts) = (*rate_per_s * 10.0, *bursts / 10.0),
            Workload::Users {
                think_ns, bursts, ..
            } => (*think_ns, *bursts) = (*think_ns / 10, *bursts / 10.0),
            _ => continue,
        }
        partition.profile.instructions_per_unit /= 10.0;
    }
    spec
}

#[cfg(test)]
mod tests {
    use homenode_engine::sim;
    use homenode_engine::spec::Processors;

    use super::*;

    /// Share of the cores that is not idle.
    fn busy(spec: &Spec) -> f64 {
        let summary = sim::run(spec, 0, |_| true).expect("a sound spec");
        let cores = f64::from(spec.machine.active_cores);
        1.0 - summary.pool_idle_ns as f64 / (cores * spec.duration_ns as f64)
    }

    #[test]
    fn the_full_frame_is_loaded_but_not_full() {
        let busy = busy(&full_frame());
        assert!((0.5..0.9).contains(&busy), "{busy}");
    }

    #[test]
    fn smaller_frames_are_loaded_as_much() {
        for vps in [100, 1_000] {
            let busy = busy(&of_vps(vps));
            assert!((0.5..0.9).contains(&busy), "{vps}: {busy}");
        }
    }

    #[test]
    fn a_frame_has_the_virtual_processors_that_it_is_named_after() {
        for vps in [100, 1_000, 10_000] {
            let spec = of_vps(vps);
            let sizes = spec.partitions.iter().map(|it| match it.processors {
                Processors::Shared { r#virtual, .. } => r#virtual,
                Processors::Dedicated { .. } => 0,
            });
            assert_eq!(sizes.sum::<u16>(), vps);
            assert_eq!(sim::check(&spec), Ok(()), "{vps}");
        }
    }
}
