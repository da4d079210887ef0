//! What is dispatched and what comes in: neither is lost, neither is made up.

use homenode_engine::cost::core_per_ns;
use homenode_engine::hypervisor::polarize;
use homenode_engine::spec::{
    Distribution, Partition, Polarization, Policy, Processors, Role, Spec, VirtualMachine, Workload,
};

use super::super::Outcome;
use super::{cpus, each_row, vps};

/// Where every partition has cores of its own, there is no dispatcher to be seen.
pub fn own_cores_are_left_alone(spec: &Spec, outcome: &Outcome) {
    if spec.machine.hypervisor.policy != Policy::Dedicated {
        return;
    }
    let none = [
        "excess_ns",
        "donated_ns",
        "evictions",
        "phint",
        "confer_calls",
        "ready_ns",
        "exhausted_ns",
        "near_ns",
        "far_ns",
        "ilcs",
        "prod_ns",
    ];
    each_row(spec, outcome, |partition, _, of| {
        for column in none {
            assert_eq!(of(column), 0, "{column} of {}", partition.name);
        }
        if partition.hypervisor_share == 0.0 {
            assert_eq!(of("book_hypervisor"), 0, "{}", partition.name);
        }
    });
}

pub fn transactions_are_kept(spec: &Spec, outcome: &Outcome) {
    for (index, partition) in spec.partitions.iter().enumerate() {
        let series = |column| outcome.partition.series("partition", index, column);
        let changes = series("tx_arrived").into_iter().zip(series("tx_done"));
        let inside = series("tx_inside");
        for (pair, (arrived, done)) in inside.windows(2).zip(changes.skip(1)) {
            let (name, change) = (&partition.name, pair[1] - pair[0]);
            assert_eq!(arrived - done, change, "transactions of {name}");
        }
        if let Some(clients) = clients(partition) {
            let all = inside
                .iter()
                .all(|now| *now <= clients.0 && (clients.1 || *now == clients.0));
            assert!(all, "{inside:?} transactions of {clients:?}");
        }
        response_is_work_at_least(spec, partition, index, outcome);
    }
}

/// Who has one transaction at a time each, and whether they ever have none.
fn clients(partition: &Partition) -> Option<(i64, bool)> {
    if !partition.beside.is_empty() {
        return None;
    }
    match &partition.workload {
        Workload::Users { count, .. } => Some((i64::from(*count), true)),
        Workload::Warehouses { count } | Workload::Barriers { count, .. } => {
            Some((i64::from(*count), false))
        }
        Workload::Web { think_ns, .. } => {
            let machines = &partition.guest.zvm()?.machines;
            let on = |role, switch| {
                let is = |m: &&VirtualMachine| m.role == role && m.switch == Some(switch);
                machines.iter().filter(is).count()
            };
            let switches = 0..partition.guest.zvm()?.switches.len() as u16;
            let pairs = switches.map(|at| on(Role::Client, at) * on(Role::Server, at));
            Some((pairs.sum::<usize>() as i64, *think_ns > 0))
        }
        _ => None,
    }
}

/// Little's law: transactions inside, over time, are at least the threads that work for them. Where
/// all transactions are alike, those that are done took no less than one of them at best.
fn response_is_work_at_least(spec: &Spec, partition: &Partition, index: usize, outcome: &Outcome) {
    let summary = &outcome.summary.partitions[index];
    let total = |column| outcome.total(&summary.name, column);
    let inside = outcome.partition.series("partition", index, "tx_inside");
    let left = *inside.last().expect("rows") as f64;
    let within = total("response_ns") + left * spec.duration_ns as f64;
    let rate = core_per_ns(&spec.machine, &partition.profile);
    let work = match &partition.workload {
        Workload::Web { .. } => of_clients_and_servers(partition, index, outcome),
        Workload::Loops { .. } | Workload::Trace { .. } | Workload::Idle => 0.0,
        _ if partition.guest.unix().daemon_rate_per_s > 0.0 => 0.0,
        Workload::Barriers { threads, .. } => total("instructions") / rate / f64::from(*threads),
        _ => total("instructions") / rate,
    };
    let rounding = 1.0 + 1e-6 * work;
    let name = &summary.name;
    assert!(
        within + rounding >= work,
        "{within} ns inside for {work} ns of work of {name}"
    );
    if are_alike(&partition.workload) && partition.beside.is_empty() {
        let (least, mean) = (
            partition.profile.instructions_per_unit / rate,
            summary.response.mean,
        );
        let none = summary.response.count == 0;
        assert!(
            none || mean >= 0.999 * least,
            "{name} answers in {mean} of {least} ns"
        );
        let done = total("tx_done") * least * 0.999;
        assert!(total("response_ns") >= done, "responses of {name}");
    }
}

/// Time of guests that is no loop's.
fn of_clients_and_servers(partition: &Partition, index: usize, outcome: &Outcome) -> f64 {
    let machines = partition.guest.zvm().map_or(&[][..], |zvm| &zvm.machines);
    let at = |column| outcome.virtual_machine.at(column);
    let rows = outcome.virtual_machine.only("partition", index as i64);
    let works = |row: &&[i64]| machines[row[at("virtual_machine")] as usize].role != Role::Loop;
    rows.filter(works)
        .map(|row| row[at("guest_ns")])
        .sum::<i64>() as f64
}

/// Whether each transaction is one burst of the same work.
fn are_alike(workload: &Workload) -> bool {
    match workload {
        Workload::Warehouses { .. } => true,
        Workload::Users {
            bursts, burst_work, ..
        }
        | Workload::Transactions {
            bursts, burst_work, ..
        } => *bursts == 1.0 && *burst_work == Distribution::Constant,
        _ => false,
    }
}

/// A virtual processor switch ends a dispatch, so the two differ by those on a core at most.
pub fn switches_follow_dispatches(spec: &Spec, outcome: &Outcome) {
    for (index, partition) in spec.partitions.iter().enumerate() {
        let vps = i64::from(vps(partition));
        let series = |column| outcome.partition.series("partition", index, column);
        let mut open = 0;
        for (dispatches, switches) in series("dispatches").into_iter().zip(series("vcsw")) {
            open += dispatches - switches;
            assert!(
                open.abs() <= vps,
                "{open} dispatches of {} open",
                partition.name
            );
        }
    }
}

pub fn records_cover_the_busy_time(spec: &Spec, outcome: &Outcome) {
    if !spec.record_dispatches {
        return;
    }
    let at = |column| outcome.dispatches.at(column);
    let mut recorded = vec![0; spec.partitions.len()];
    for core in 0..cpus(spec) {
        let mut free_from = 0;
        for row in outcome.dispatches.only("core", core) {
            let (start, end) = (row[at("start_ns")], row[at("end_ns")]);
            assert!(
                free_from <= start && start <= end,
                "core {core} is used twice at {start} ns"
            );
            free_from = end;
            recorded[row[at("partition")] as usize] += end - start;
        }
    }
    for (partition, recorded) in outcome.summary.partitions.iter().zip(recorded) {
        let busy = outcome.total(&partition.name, "busy_ns") as i64;
        assert_eq!(recorded, busy, "dispatches of {}", partition.name);
    }
}

/// What cores were used is what partitions used; each as long as its dispatches say, where they are
/// recorded.
pub fn cores_add_up_to_the_busy_time(spec: &Spec, outcome: &Outcome) {
    let used = &outcome.summary.cores_ns;
    let names = outcome.summary.partitions.iter().map(|one| &one.name);
    let busy: f64 = names.map(|name| outcome.total(name, "busy_ns")).sum();
    assert_eq!(used.iter().sum::<u64>() as f64, busy, "of all cores");
    if !spec.record_dispatches {
        return;
    }
    let at = |column| outcome.dispatches.at(column);
    for core in 0..cpus(spec) {
        let rows = outcome.dispatches.only("core", core);
        let recorded: i64 = rows
            .map(|row| row[at("end_ns")] - row[at("start_ns")])
            .sum();
        assert_eq!(used[core as usize] as i64, recorded, "core {core}");
    }
}

/// A vertical-high core within its share runs on one physical core only, but where one that spins
/// for its lock lets it run in its own place.
pub fn high_cores_stay_at_home(spec: &Spec, outcome: &Outcome) {
    let at = |column| outcome.dispatches.at(column);
    for (index, partition) in spec.partitions.iter().enumerate() {
        let Processors::Shared {
            entitlement, prsm, ..
        } = &partition.processors
        else {
            continue;
        };
        if prsm.polarization == Polarization::Horizontal || partition.spins() {
            continue;
        }
        let high = i64::from(polarize(*entitlement, vps(partition)).high);
        let mut homes = std::collections::BTreeMap::new();
        for row in outcome.dispatches.only("partition", index as i64) {
            let ran = row[at("start_ns")] < row[at("end_ns")];
            if ran && row[at("vp")] < high && row[at("kind")] == 0 {
                let home = *homes.entry(row[at("vp")]).or_insert(row[at("core")]);
                assert_eq!(home, row[at("core")], "{}", partition.name);
            }
        }
    }
}
