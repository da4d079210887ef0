//! W2's load under the policies other than PowerVM's. Machine, guest and work stay those of
//! [`scenarios::w2_load`], so that the figures differ by what the policy costs; where a policy
//! can't take the very load, the nearest is there and a comment says what is different.

use homenode_engine::spec::{
    Cgroup, CpShare, Kvm, Policy, Processors, Role, Spec, VirtualMachine, Workload,
};

use crate::load::{BURST_NS, ENTITLED_NS, SERVERS, SLEEPERS, SLEEP_NS, VPS, WINDOW_NS};
use crate::{scenarios, zvm};

/// Cores that a partition may use: what its 30 virtual processors are entitled to.
const QUOTA_CORES: u64 = 12;
/// Period of a quota [ns].
const PERIOD_NS: u64 = 100_000_000;

/// PR/SM: weights alike, and a cap of what was entitled.
pub fn prsm() -> Spec {
    of_policy(scenarios::w2_load(), Policy::Prsm)
}

/// A core for each virtual processor, which is for 64 of the 120: each partition has 16 processors
/// instead of 30, and nobody waits for another.
pub fn dedicated() -> Spec {
    let each = SERVERS / 4;
    with_cores_of_their_own(scenarios::w2_load(), each as u16)
}

/// Gives every partition of W2's so many cores of its own instead of what it shares.
pub fn with_cores_of_their_own(spec: Spec, each: u16) -> Spec {
    let mut spec = of_policy(spec, Policy::Dedicated);
    for (at, partition) in (0..).zip(&mut spec.partitions) {
        partition.processors = Processors::Dedicated {
            cores: (at * each..(at + 1) * each).collect(),
            donating: false,
            donate_threshold_pct: 0.0,
        };
        let (Workload::Users { count, .. } | Workload::Loops { count, .. }) =
            &mut partition.workload
        else {
            unreachable!("W2 has users and loops");
        };
        *count = u32::from(each);
    }
    spec
}

/// The Linux scheduler and KVM: a control group with a quota for each guest.
pub fn linux() -> Spec {
    let mut spec = of_policy(scenarios::w2_load(), Policy::Linux);
    for (at, partition) in (0..).zip(&mut spec.partitions) {
        if let Processors::Shared { host, .. } = &mut partition.processors {
            host.cgroup = Some(at);
            host.kvm = Some(Kvm::default());
        }
    }
    let cgroup = |at: usize| Cgroup {
        name: format!("w2-{at}"),
        parent: None,
        weight: 100,
        quota_ns: Some(QUOTA_CORES * PERIOD_NS),
        period_ns: PERIOD_NS,
        burst_ns: 0,
        cpuset: None,
        idle: false,
    };
    spec.cgroups = (0..spec.partitions.len()).map(cgroup).collect();
    spec
}

/// Xen's credit2: weights alike, and a cap of what was entitled.
pub fn credit2() -> Spec {
    of_policy(scenarios::w2_load(), Policy::Credit2)
}

/// z/VM on 64 processors of its own. Its guests talk, so that the 90 are 45 clients that each ask a
/// server of their own: both compute for 2 ms a request, each while the other sleeps, and the
/// client pauses for what is left of the 3 ms that they sleep in all. A machine's limit takes the
/// entitlement's place.
pub fn zvm() -> Spec {
    let pairs = 0..SLEEPERS as u16 / 2;
    let talking = pairs.clone().flat_map(|n| {
        let guest = |role, name| limited(role, format!("{name}{n}"), Some(n));
        [guest(Role::Client, "client"), guest(Role::Server, "server")]
    });
    let loops = 0..VPS - SLEEPERS;
    let loops = loops.map(|n| limited(Role::Loop, format!("loop{n}"), None));
    let switches = pairs.map(|n| zvm::switch(format!("pair{n}")));
    let machines = talking.chain(loops).collect();
    let mut spec = zvm::spec(SERVERS as u16, machines, switches.collect());
    let partition = &mut spec.partitions[0];
    if let Workload::Web { think_ns, .. } = &mut partition.workload {
        *think_ns = SLEEP_NS - BURST_NS;
    }
    partition.profile.instructions_per_unit = 2.0 * scenarios::W2_BURST;
    let like = scenarios::w2_load();
    (spec.warmup_ns, spec.duration_ns) = (like.warmup_ns, like.duration_ns);
    spec.interval_ns = like.interval_ns;
    spec
}

/// A virtual machine that gets no more than a virtual processor of W2 is entitled to.
fn limited(role: Role, name: String, switch: Option<u16>) -> VirtualMachine {
    let cores = ENTITLED_NS as f64 / WINDOW_NS as f64;
    VirtualMachine {
        maximum: Some(CpShare::Absolute(cores / SERVERS as f64)),
        limit_hard: true,
        ..zvm::machine(role, name, switch)
    }
}

/// The spec with another policy: whoever is not PowerVM knows weights instead of entitlements, and
/// a cap in cores where PowerVM caps at the entitlement. Linux has quotas, which are control
/// groups'.
pub fn of_policy(mut spec: Spec, policy: Policy) -> Spec {
    spec.machine.hypervisor.policy = policy;
    for partition in &mut spec.partitions {
        if let Processors::Shared {
            entitlement,
            capped,
            prsm,
            host,
            ..
        } = &mut partition.processors
        {
            let cap = capped.then_some(*entitlement);
            prsm.cap = cap.filter(|_| policy == Policy::Prsm);
            host.cap = cap.filter(|_| policy == Policy::Credit2);
            (*entitlement, *capped) = (0.0, false);
        }
    }
    spec
}

#[cfg(test)]
mod tests {
    use homenode_engine::sim;

    use super::*;

    /// Cores that each partition keeps busy.
    fn busy(mut spec: Spec) -> Vec<f64> {
        (spec.warmup_ns, spec.duration_ns) = (200_000_000, 800_000_000);
        let summary = sim::run(&spec, 0, |_| true);
        let summary = summary.unwrap_or_else(|fault| panic!("{fault}"));
        let columns = sim::columns::partition();
        let at = columns.iter().position(|name| name == "busy_ns");
        let at = at.expect("a column");
        let of = |it: &sim::PartitionSummary| it.totals[at] as f64 / spec.duration_ns as f64;
        summary.partitions.iter().map(of).collect()
    }

    /// Sleepers keep two fifths of a processor busy if they never wait, loops what they may.
    #[test]
    fn every_dispatcher_has_the_load_of_w2() {
        for spec in [scenarios::w2_load(), prsm(), linux(), credit2()] {
            let (policy, busy) = (spec.machine.hypervisor.policy, busy(spec));
            let users = busy[..3].iter().all(|cores| (10.0..12.2).contains(cores));
            assert!(users, "{policy:?}: {busy:?}");
            assert!((11.9..12.1).contains(&busy[3]), "{policy:?}: {busy:?}");
        }
    }

    #[test]
    fn what_stands_for_the_load_elsewhere_is_much_like_it() {
        let busy_alone = busy(dedicated());
        let users = busy_alone[..3].iter().all(|it| (4.5..6.5).contains(it));
        assert!(users && busy_alone[3] > 15.9, "{busy_alone:?}");
        let all = busy(zvm())[0];
        assert!((42.0..48.5).contains(&all), "{all}");
    }
}
