//! Whatever number stands in a spec, the engine refuses it with a reason or simulates it: it never
//! panics and never stands still.

use crate::common;
use crate::common::{
    dedicated, loops, machine, memory, partition, quiet_unix, shared, spec, transactions, users,
    GIB, MS,
};
use homenode_engine::sim::{check, run, RunError, SpecFault};
use homenode_engine::spec::{
    Distribution, Drains, Guest, Load, MemoryPolicy, Partition, Pipeline, Pool, Processors, Spec,
    Spread, StorePath, Translation, Unix, Workload,
};
use proptest::prelude::*;
use serde_json::{json, Value};

/// Events after which a run counts as getting on.
const EVENTS: u64 = 20_000;
/// Batches after which it does.
const BATCHES: u32 = 20;

/// What empties the pipelines of its cores.
const DRAINS: Drains = Drains {
    control_cycles: 60.0,
    branch_targets: 8192.0,
    branch_cycles: 19.0,
};

/// A small spec in which every field has its say.
fn full_spec() -> Spec {
    let mut machine = machine("node:2 chip:1 core:3 pu:2");
    machine.node_distance = vec![1.0; 4];
    machine.translation = Some(Translation {
        entries: 64,
        walk_ns: 100.0,
    });
    machine.stores = Some(StorePath {
        interval_ns: 2.0,
        width_bytes: 16.0,
        gather_bytes: Some(128.0),
    });
    machine.pipeline = Some(Pipeline {
        own: DRAINS,
        reference: DRAINS,
    });
    let mut partitions = vec![
        partition(
            "a",
            shared(1.0, 2),
            transactions(500.0, Distribution::Exponential),
        ),
        partition("b", shared(0.5, 2), users(5, MS)),
        partition("c", shared(0.5, 1), loops(3)),
        partition("d", dedicated(4..6, true), loops(1)),
    ];
    partitions[2].workload_name = "loops".into();
    partitions[2].beside.push(Load {
        name: "other".into(),
        workload: users(2, MS),
        profile: common::plain_profile(1e6),
    });
    if let Processors::Shared { pool, .. } = &mut partitions[1].processors {
        *pool = 1;
    }
    for partition in &mut partitions {
        let guest = common::aix(partition);
        guest.rebalance_ns = Some(10 * MS);
        guest.snooze_delay_ns = Some(MS);
        guest.daemon_rate_per_s = 100.0;
        guest.daemon_ns = 100_000;
    }
    let warehouses = Workload::Warehouses { count: 2 };
    let mut linux = partition("e", shared(0.25, 1), warehouses);
    linux.guest = Guest::Linux(Unix {
        rebalance_ns: Some(10 * MS),
        ..quiet_unix()
    });
    partitions.push(linux);
    let played = Workload::Trace {
        lengths_ns: vec![5 * MS, 20 * MS],
        instructions_per_s: vec![1e8, 3e8],
        spread: Spread::Even,
    };
    partitions.push(partition("f", shared(0.25, 1), played));
    place_memory(&mut partitions);
    let mut spec = spec(machine, partitions);
    spec.duration_ns = 30 * MS;
    spec.warmup_ns = 10 * MS;
    spec.pools.push(Pool {
        name: "limited".into(),
        maximum: Some(1.0),
        reserved: 0.25,
        cores: None,
    });
    spec
}

/// Memory of several kinds, with every policy that places by distance.
fn place_memory(partitions: &mut [Partition]) {
    let [near, _, _, strict, ..] = partitions else {
        return;
    };
    near.memory = vec![memory(&[0], GIB), memory(&[0, 1], 2 * GIB)];
    near.memory_policy = MemoryPolicy::LocalFirst;
    near.data_bytes = 2 * GIB;
    near.io_domain = Some(1);
    near.hypervisor_share = 0.01;
    near.profile.lock_share = 0.05;
    (near.profile.private_data, near.profile.io_data) = (0.3, 0.1);
    strict.memory = vec![memory(&[1], GIB)];
    strict.memory_policy = MemoryPolicy::Strict;
}

/// Paths of all numbers in a JSON value.
fn numbers(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(path.into()),
        Value::Array(items) => {
            (0..items.len()).for_each(|i| numbers(&items[i], &format!("{path}/{i}"), found))
        }
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, field)| numbers(field, &format!("{path}/{name}"), found)),
        _ => {}
    }
}

fn nasty() -> Vec<Value> {
    let mut all: Vec<Value> = [-1.0, 0.0, 0.5, 1e-300, 1e300, -1e300, 1e9, 1e-9]
        .map(|x| json!(x))
        .to_vec();
    all.extend([0, 1, 3, 255, 65_535, 1 << 32, 1 << 53, u64::MAX].map(|n: u64| json!(n)));
    all.push(Value::Null);
    all
}

/// The spec with other numbers at some paths; none if it doesn't even read as a spec.
fn changed(changes: &[(&str, &Value)]) -> Option<Spec> {
    let mut value = serde_json::to_value(full_spec()).expect("a spec is JSON");
    for (path, number) in changes {
        *value.pointer_mut(path).expect("a path") = (*number).clone();
    }
    serde_json::from_value(value).ok()
}

/// A fault says where it stands, and something stands there.
fn assert_place(spec: &Spec, fault: &SpecFault) {
    let value = serde_json::to_value(spec).expect("a spec is JSON");
    let (at, there) = (&fault.at, value.pointer(&fault.at));
    assert!(there.is_some(), "{fault}: nothing stands at {at:?}");
}

/// Whether a spec is refused; one that is accepted must get on.
fn is_refused(spec: &Spec) -> bool {
    let mut batches = 0;
    let outcome = run(spec, 0, |batch| {
        batches += 1;
        batches < BATCHES && batch.events < EVENTS
    });
    match outcome {
        Err(RunError::Spec(fault)) => {
            let same = check(spec).expect_err("a fault of the check");
            assert_eq!(same.to_string(), fault.to_string());
            assert_place(spec, &fault);
            true
        }
        Err(RunError::Stopped { .. } | RunError::Runaway { .. }) | Ok(_) => false,
    }
}

#[test]
fn the_spec_itself_is_sound() {
    assert!(!is_refused(&full_spec()));
}

#[test]
fn any_nasty_number_anywhere_is_refused_or_simulated() {
    let mut paths = Vec::new();
    let value = serde_json::to_value(full_spec()).expect("a spec is JSON");
    numbers(&value, "", &mut paths);
    let nasty = nasty();
    let (mut refused, mut ran) = (0, 0);
    for path in &paths {
        for number in &nasty {
            match changed(&[(path, number)]).map(|spec| is_refused(&spec)) {
                Some(true) => refused += 1,
                Some(false) => ran += 1,
                None => {}
            }
        }
    }
    assert!(refused > 500 && ran > 500, "{refused} refused, {ran} ran");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn several_at_once_too(
        changes in prop::collection::vec((any::<usize>(), any::<usize>()), 2..5),
    ) {
        let mut paths = Vec::new();
        let value = serde_json::to_value(full_spec()).expect("a spec is JSON");
        numbers(&value, "", &mut paths);
        let nasty = nasty();
        let changes: Vec<_> = changes
            .into_iter()
            .map(|(at, what)| (paths[at % paths.len()].as_str(), &nasty[what % nasty.len()]))
            .collect();
        if let Some(spec) = changed(&changes) {
            is_refused(&spec);
        }
    }
}

type Field = fn(&mut Spec) -> &mut f64;

/// Every fractional number of a spec.
fn fractions() -> Vec<(&'static str, Field)> {
    [of_the_machine(), of_a_partition()].concat()
}

fn of_the_machine() -> Vec<(&'static str, Field)> {
    vec![
        ("clock_hz", |s| &mut s.machine.clock_hz),
        ("cache latency_ns", |s| &mut s.machine.caches[0].latency_ns),
        ("cache_to_cache_ns.local", |s| {
            &mut s.machine.cache_to_cache_ns.local
        }),
        ("cache_to_cache_ns.near", |s| {
            &mut s.machine.cache_to_cache_ns.near
        }),
        ("cache_to_cache_ns.far", |s| {
            &mut s.machine.cache_to_cache_ns.far
        }),
        ("memory_ns.local", |s| &mut s.machine.memory_ns.local),
        ("memory_ns.near", |s| &mut s.machine.memory_ns.near),
        ("memory_ns.far", |s| &mut s.machine.memory_ns.far),
        ("node_distance", |s| &mut s.machine.node_distance[1]),
        ("memory_bytes_per_s", |s| &mut s.machine.memory_bytes_per_s),
        ("chip_link_bytes_per_s", |s| {
            &mut s.machine.chip_link_bytes_per_s
        }),
        ("node_link_bytes_per_s", |s| {
            &mut s.machine.node_link_bytes_per_s
        }),
        ("smt.gain", |s| &mut s.machine.smt.gain[1]),
        ("smt.reference.eicpi", |s| {
            &mut s.machine.smt.reference.eicpi
        }),
        ("min_entitlement_per_vp", |s| {
            &mut s.machine.hypervisor.min_entitlement_per_vp
        }),
        ("pool maximum", |s| {
            s.pools[1].maximum.as_mut().expect("a maximum")
        }),
        ("pool reserved", |s| &mut s.pools[1].reserved),
        ("core_rate", |s| &mut s.machine.core_rate),
        ("pipeline.own.control_cycles", |s| {
            &mut drains(s).control_cycles
        }),
        ("pipeline.own.branch_targets", |s| {
            &mut drains(s).branch_targets
        }),
        ("pipeline.own.branch_cycles", |s| {
            &mut drains(s).branch_cycles
        }),
        ("translation.walk_ns", |s| {
            let translation = s.machine.translation.as_mut();
            &mut translation.expect("a translation").walk_ns
        }),
    ]
}

fn drains(spec: &mut Spec) -> &mut Drains {
    let pipeline = spec.machine.pipeline.as_mut();
    &mut pipeline.expect("what empties pipelines").own
}

fn of_a_partition() -> Vec<(&'static str, Field)> {
    vec![
        ("hypervisor_share", |s| {
            &mut s.partitions[0].hypervisor_share
        }),
        ("fold_threshold_pct", |s| {
            &mut common::aix(&mut s.partitions[0]).fold_threshold_pct
        }),
        ("daemon_rate_per_s", |s| {
            &mut common::aix(&mut s.partitions[0]).daemon_rate_per_s
        }),
        ("instructions_per_unit", |s| {
            &mut s.partitions[0].profile.instructions_per_unit
        }),
        ("system_share", |s| {
            &mut s.partitions[0].profile.system_share
        }),
        ("eicpi", |s| &mut s.partitions[0].profile.eicpi),
        ("control_share", |s| {
            &mut s.partitions[0].profile.control_share
        }),
        ("branch_misses", |s| {
            &mut s.partitions[0].profile.branch_misses
        }),
        ("issue_share", |s| &mut s.partitions[0].profile.issue_share),
        ("miss_m0", |s| &mut s.partitions[0].profile.miss_m0),
        ("miss_c0_bytes", |s| {
            &mut s.partitions[0].profile.miss_c0_bytes
        }),
        ("miss_exponent", |s| {
            &mut s.partitions[0].profile.miss_exponent
        }),
        ("sharing", |s| &mut s.partitions[0].profile.sharing),
        ("footprint_common", |s| {
            &mut s.partitions[0].profile.footprint_common
        }),
        ("overlap", |s| &mut s.partitions[0].profile.overlap),
        ("lock_share", |s| &mut s.partitions[0].profile.lock_share),
        ("lock_hold_instructions", |s| {
            &mut s.partitions[0].profile.lock_hold_instructions
        }),
        ("private_data", |s| {
            &mut s.partitions[0].profile.private_data
        }),
        ("io_data", |s| &mut s.partitions[0].profile.io_data),
        ("store_share", |s| &mut s.partitions[0].profile.store_share),
        ("store_run", |s| &mut s.partitions[0].profile.store_run),
        ("stores.interval_ns", |s| {
            &mut s.machine.stores.as_mut().expect("a way").interval_ns
        }),
        ("stores.width_bytes", |s| {
            &mut s.machine.stores.as_mut().expect("a way").width_bytes
        }),
        ("stores.gather_bytes", |s| {
            let path = s.machine.stores.as_mut().expect("a way");
            path.gather_bytes.as_mut().expect("gathers")
        }),
    ]
}

/// Numbers of which too much does no harm.
const UNLIMITED: [&str; 5] = [
    "memory_bytes_per_s",
    "chip_link_bytes_per_s",
    "node_link_bytes_per_s",
    "min_entitlement_per_vp",
    "pool maximum",
];

#[test]
fn what_is_not_a_number_is_refused_everywhere() {
    for (name, field) in fractions() {
        for value in [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            -1.0,
            -1e300,
            1e300,
        ] {
            let mut spec = full_spec();
            *field(&mut spec) = value;
            let unlimited = UNLIMITED.contains(&name) && value > 0.0;
            assert!(
                is_refused(&spec) || unlimited,
                "{name} = {value} is accepted"
            );
        }
    }
}

#[test]
fn pipelines_that_are_empty_all_of_the_time_do_no_work() {
    let mut spec = full_spec();
    spec.partitions[0].profile.control_share = 0.5;
    let fault = check(&spec).expect_err("30 of 1 cycles");
    let said = "partition a: cycles of emptied pipelines is 30, it must be less than eicpi, 1";
    assert_eq!(fault.to_string(), said);
    assert_eq!(fault.at, "/partitions/0/profile/control_share");
    spec.machine.pipeline = None;
    assert!(check(&spec).is_ok());
}

#[test]
fn a_fault_names_owner_field_and_range() {
    let mut spec = full_spec();
    spec.partitions[0].profile.eicpi = -1.0;
    let fault = check(&spec).expect_err("negative");
    assert_eq!(
        fault.to_string(),
        "partition a: eicpi is -1, it must be 0.001 to 1000"
    );
    assert_eq!(fault.at, "/partitions/0/profile/eicpi");
    let mut spec = full_spec();
    spec.partitions[1].name = "a".into();
    let fault = check(&spec).expect_err("twice");
    assert_eq!(fault.to_string(), "partition a occurs twice");
    assert_eq!(fault.at, "/partitions/1/name");
    let mut spec = full_spec();
    spec.partitions[0].home = vec![2];
    let fault = check(&spec).expect_err("no such chip");
    assert_eq!(
        fault.to_string(),
        "partition a: chip 2 is not there, the machine has 2"
    );
    assert_eq!(fault.at, "/partitions/0/home");
}
