//! Nobody who has work waits beside an idle core that he may use.

use homenode_engine::spec::{Partition, Policy, Processors, RunQueues, Spec};

use super::super::Outcome;
use super::limits::is_always_busy;
use super::{cpus, vps};

/// From when to when [ns].
type Span = (i64, i64);

/// How long a core may idle beside one that waits [ns]; none = for ever.
///
/// PowerVM and PR/SM hand a free core on at once. So does a run queue of credit2; between queues
/// only averages over a second even out (`load_window_shift`). On Linux one that has become idle
/// looks around at a tick, once in an interval for each processor of the domain
/// (`Balance::interval_ns`), which doubles as long as there was nothing to be had; one that is
/// still warm is left alone twice (`sd->nr_balance_failed`).
fn allowance(spec: &Spec) -> Option<i64> {
    let hypervisor = &spec.machine.hypervisor;
    let linux = &hypervisor.linux;
    match hypervisor.policy {
        Policy::Credit2 if hypervisor.credit2.runqueue != RunQueues::All => None,
        Policy::Credit2 => (cpus(spec) <= i64::from(hypervisor.credit2.max_per_queue)).then_some(0),
        Policy::Linux => {
            let domain = cpus(spec) as u64 * linux.balance.interval_ns;
            Some(3 * (2 * domain + linux.tick_ns + linux.tick_late_ns) as i64)
        }
        _ => Some(0),
    }
}

/// Virtual processors that always have work are on a core or wait for one, so dispatch records say
/// when they wait; likewise when cores idle.
pub fn nobody_waits_beside_an_idle_core(spec: &Spec, outcome: &Outcome) {
    let Some(allowed) = allowance(spec).filter(|_| spec.record_dispatches) else {
        return;
    };
    let idle: Vec<(u16, Vec<Span>)> = (0..cpus(spec) as u16)
        .map(|core| {
            (
                core,
                gaps(spec, outcome, |row, at| row[at("core")] == i64::from(core)),
            )
        })
        .collect();
    for (index, partition) in spec.partitions.iter().enumerate() {
        if !is_always_busy(partition) || is_limited(spec, partition) {
            continue;
        }
        for vp in 0..i64::from(vps(partition)) {
            let own = |row: &[i64], at: &dyn Fn(&str) -> usize| {
                row[at("partition")] == index as i64 && row[at("vp")] == vp
            };
            let waits = gaps(spec, outcome, own);
            let usable = idle
                .iter()
                .filter(|(core, _)| may_use(spec, partition, vp, *core));
            for (core, idle) in usable {
                let both = overlap(&waits, idle).max_by_key(|span| span.1 - span.0);
                let (from, to) = both.unwrap_or_default();
                let name = &partition.name;
                assert!(
                    to - from <= allowed,
                    "{name}.{vp} waits {from}..{to} ns beside core {core}"
                );
            }
        }
    }
}

/// When none of some dispatches lasted, within the recorded time.
fn gaps(
    spec: &Spec,
    outcome: &Outcome,
    of: impl Fn(&[i64], &dyn Fn(&str) -> usize) -> bool,
) -> Vec<Span> {
    let at = |column: &str| outcome.dispatches.at(column);
    let rows = outcome.dispatches.rows().filter(|row| of(row, &at));
    let mut spans: Vec<Span> = rows
        .map(|row| (row[at("start_ns")], row[at("end_ns")]))
        .collect();
    spans.sort_unstable();
    let (mut free, mut from) = (Vec::new(), 0);
    for (start, end) in spans {
        if start > from {
            free.push((from, start));
        }
        from = from.max(end);
    }
    free.push((from, spec.duration_ns as i64));
    free
}

fn overlap<'a>(some: &'a [Span], others: &'a [Span]) -> impl Iterator<Item = Span> + 'a {
    let both = |a: &Span, b: &Span| (a.0.max(b.0), a.1.min(b.1));
    let pairs = some
        .iter()
        .flat_map(move |a| others.iter().map(move |b| both(a, b)));
    pairs.filter(|(from, to)| from < to)
}

/// Whether he may have to wait whatever idles.
fn is_limited(spec: &Spec, partition: &Partition) -> bool {
    let Processors::Shared {
        capped,
        weight,
        pool,
        prsm,
        host,
        ..
    } = &partition.processors
    else {
        return true;
    };
    let quota = |at: u16| spec.cgroups[usize::from(at)].quota_ns.is_some();
    let up = |at: &u16| spec.cgroups[usize::from(*at)].parent;
    let phyp = spec.machine.hypervisor.policy == Policy::Phyp;
    *capped
        || phyp && *weight == 0
        || spec.pools[usize::from(*pool)].maximum.is_some()
        || prsm.cap.is_some()
        || prsm.group.is_some()
        || prsm.defined_capacity.is_some()
        || host.cap.is_some()
        || std::iter::successors(host.cgroup, up).any(quota)
}

/// Whether one of its virtual processors may run there: on a core that is nobody's own, of its
/// type, and within its pins.
fn may_use(spec: &Spec, partition: &Partition, vp: i64, core: u16) -> bool {
    let Processors::Shared { pool, host, .. } = &partition.processors else {
        return false;
    };
    let owns = |p: &Partition| match &p.processors {
        Processors::Dedicated { cores, .. } => cores.contains(&core),
        Processors::Shared { .. } => false,
    };
    let of_type = spec.pools[usize::from(*pool)].cores.as_ref();
    let named = spec
        .pools
        .iter()
        .any(|p| p.cores.as_ref().is_some_and(|c| c.contains(&core)));
    let pinned = host.pins.get(vp as usize).filter(|pins| !pins.is_empty());
    !spec.partitions.iter().any(owns)
        && of_type.map_or(!named, |cores| cores.contains(&core))
        && pinned.is_none_or(|pins| pins.contains(&core))
}
