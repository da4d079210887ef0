//! Axes along which a model grows: how many of what, and a spec for each number. Along an axis the
//! load of each core or of each guest stays what it is, so that an event means the same at all
//! sizes.

use homenode_engine::spec::{Policy, Spec, Workload};

use crate::scenarios::{self, set_capped, set_cores, set_home, w2_partition, CORES_PER_NODE};
use crate::{frames, hosts, policies, zvm};

const MS: u64 = 1_000_000;
/// Intervals of a run; the first is not measured.
const INTERVALS: u64 = 4;
/// Shortest simulated time of a run: ten windows of PowerVM.
const SHORTEST_NS: u64 = 100 * MS;
/// The same of a host, whose quotas last for 100 ms.
const HOSTS_SHORTEST_NS: u64 = 400 * MS;

const VPS: [u16; 3] = [100, 1_000, 10_000];
const PARTITIONS: [u16; 3] = [50, 200, 1_000];
const CORES: [u16; 3] = [64, 256, 1_024];
const GUESTS: [u16; 3] = [10, 100, 1_000];

/// Something that grows.
pub struct Axis {
    /// The policy and what grows.
    pub name: &'static str,
    /// Numbers of it, growing.
    pub sizes: [u16; 3],
    /// Simulated seconds at a size of one: time shrinks as the model grows, work stays.
    seconds: u64,
    of: fn(u16) -> Spec,
}

impl Axis {
    /// The spec of one of its sizes.
    pub fn spec(&self, size: u16) -> Spec {
        let mut spec = (self.of)(size);
        let is_host = matches!(
            spec.machine.hypervisor.policy,
            Policy::Linux | Policy::Credit2
        );
        let shortest = if is_host {
            HOSTS_SHORTEST_NS
        } else {
            SHORTEST_NS
        };
        spec.warmup_ns = 0;
        spec.duration_ns = (self.seconds * 1_000 * MS / u64::from(size)).max(shortest);
        spec.interval_ns = spec.duration_ns / INTERVALS;
        spec
    }
}

/// What grows, policy by policy.
pub fn axes() -> Vec<Axis> {
    let groups = [powervm(), prsm(), own_cores(), on_zvm(), on_hosts()];
    groups.into_iter().flatten().collect()
}

fn axis(name: &'static str, sizes: [u16; 3], seconds: u64, of: fn(u16) -> Spec) -> Axis {
    Axis {
        name,
        sizes,
        seconds,
        of,
    }
}

fn powervm() -> Vec<Axis> {
    vec![
        axis("PowerVM: VPs of a frame", VPS, 500, frame),
        axis("PowerVM: partitions on 1,024 cores", PARTITIONS, 50, many),
        axis("PowerVM: cores of 8 partitions", CORES, 400, eight),
        axis("PowerVM: VPs of one partition", [16, 64, 256], 500, one),
    ]
}

fn prsm() -> Vec<Axis> {
    let frame: fn(u16) -> Spec = |n| policies::of_policy(frame(n), Policy::Prsm);
    let many: fn(u16) -> Spec = |n| policies::of_policy(many(n), Policy::Prsm);
    let eight: fn(u16) -> Spec = |n| policies::of_policy(eight(n), Policy::Prsm);
    vec![
        axis("PR/SM: VPs of a frame", VPS, 500, frame),
        axis("PR/SM: partitions on 1,024 cores", PARTITIONS, 50, many),
        axis("PR/SM: cores of 8 partitions", CORES, 400, eight),
    ]
}

/// As many virtual processors as cores, so that one axis is both.
fn own_cores() -> Vec<Axis> {
    let sizes = [16, 128, 1_024];
    let eight: fn(u16) -> Spec = |n| policies::with_cores_of_their_own(eight(n), n / 8);
    vec![
        axis("dedicated: cores of 8 partitions", sizes, 800, eight),
        axis("dedicated: partitions of a core", GUESTS, 400, alone),
    ]
}

/// As many processors as z/VM has on one partition, and more guests than they can serve.
fn on_zvm() -> Vec<Axis> {
    let processors: fn(u16) -> Spec = |n| zvm::tiles_of(n, n / 10, 5, 20);
    let guests: fn(u16) -> Spec = |n| zvm::tiles_of(76, n / 10, 2, 8);
    let sizes = [10, 30, 100];
    vec![
        axis(
            "z/VM: processors, 2.5 guests on each",
            sizes,
            200,
            processors,
        ),
        axis("z/VM: guests on 76 processors", GUESTS, 200, guests),
    ]
}

fn on_hosts() -> Vec<Axis> {
    let linux: fn(u16) -> Spec = |n| hosts::host_of(Policy::Linux, n, n * 16 / hosts::VCPUS);
    let xen: fn(u16) -> Spec = |n| hosts::host_of(Policy::Credit2, n, n * 8 / hosts::VCPUS);
    let kvm_guests: fn(u16) -> Spec = |n| hosts::host_of(Policy::Linux, 64, n);
    let domains: fn(u16) -> Spec = |n| hosts::host_of(Policy::Credit2, 64, n);
    let sizes = [8, 64, 512];
    vec![
        axis("Linux: processors, 16 VPs on each", sizes, 100, linux),
        axis(
            "Linux: guests of 4 on 64 processors",
            GUESTS,
            100,
            kvm_guests,
        ),
        axis("credit2: processors, 8 VPs on each", sizes, 100, xen),
        axis(
            "credit2: guests of 4 on 64 processors",
            GUESTS,
            100,
            domains,
        ),
    ]
}

/// A frame under mixed load, five virtual processors on a core.
fn frame(vps: u16) -> Spec {
    frames::quick(frames::of_vps(vps))
}

/// Partitions of ten virtual processors, mixed; with a thousand the frame is loaded.
fn many(partitions: u16) -> Spec {
    frames::quick(frames::frame(1_024, &vec![10; usize::from(partitions)]))
}

/// W2's load on more cores: 15 virtual processors of each partition on 64.
fn eight(cores: u16) -> Spec {
    let nodes = cores.div_ceil(CORES_PER_NODE);
    let partition = |i: u16| {
        let mut partition = w2_partition(i, (cores * 15 / 64).max(1));
        set_capped(&mut partition, true);
        let first = i * nodes / 8;
        set_home(&mut partition, first..first + nodes.div_ceil(8));
        partition
    };
    let mut spec = scenarios::spec("eight", (0..8).map(partition).collect());
    set_cores(&mut spec.machine, cores);
    spec
}

/// One partition on a frame of 256 cores, two users for each virtual processor.
fn one(vps: u16) -> Spec {
    let mut partition = w2_partition(0, vps);
    if let Workload::Users { count, .. } = &mut partition.workload {
        *count = 2 * u32::from(vps);
    }
    set_home(&mut partition, 0..8);
    scenarios::spec("one", vec![partition])
}

/// Partitions with a core of their own each, of 1,024.
fn alone(partitions: u16) -> Spec {
    let partition = |i| w2_partition(i, 1);
    let mut spec = scenarios::spec("alone", (0..partitions).map(partition).collect());
    set_cores(&mut spec.machine, 1_024);
    policies::with_cores_of_their_own(spec, 1)
}

#[cfg(test)]
mod tests {
    use homenode_engine::sim;
    use homenode_engine::spec::{Guest, Partition, Processors};

    use super::*;

    /// Threads that may run at once: those of the virtual processors on the cores that are there.
    fn most(spec: &Spec) -> f64 {
        let shared = f64::from(spec.machine.active_cores);
        let of = |partition: &Partition| match (&partition.guest, &partition.processors) {
            (Guest::Zvm(zvm), Processors::Dedicated { cores, .. }) => {
                zvm.machines.len().min(cores.len()) as f64
            }
            (_, Processors::Dedicated { cores, .. }) => cores.len() as f64,
            (_, Processors::Shared { r#virtual, .. }) => f64::from(*r#virtual),
        };
        spec.partitions.iter().map(of).sum::<f64>().min(shared)
    }

    /// Busy time, in proportion to the most there can be.
    fn load(spec: &Spec) -> f64 {
        let summary = sim::run(spec, 0, |_| true);
        let summary = summary.unwrap_or_else(|fault| panic!("{fault}"));
        let columns = sim::columns::partition();
        let at = columns.iter().position(|name| name == "busy_ns");
        let at = at.expect("a column");
        let busy: i64 = summary.partitions.iter().map(|it| it.totals[at]).sum();
        busy as f64 / (most(spec) * spec.duration_ns as f64)
    }

    /// A mixed frame is not full at once, and one with few partitions never: of ten virtual
    /// processors most are there in case.
    #[test]
    fn the_engine_takes_every_size_and_has_work_at_once() {
        for axis in axes() {
            assert!(axis.sizes.is_sorted(), "{}", axis.name);
            let least = if axis.name.contains("partitions on") {
                0.02
            } else {
                0.25
            };
            for size in axis.sizes {
                let mut spec = axis.spec(size);
                assert!(spec.duration_ns >= SHORTEST_NS, "{}: {size}", axis.name);
                (spec.warmup_ns, spec.duration_ns) = (10 * MS, 20 * MS);
                let load = load(&spec);
                let sane = (least..1.0 + 1e-9).contains(&load);
                assert!(sane, "{}: {size}: {load}", axis.name);
            }
        }
    }
}
