//! Whatever number stands in z/VM's part of a spec, the engine refuses it with a reason or
//! simulates it.

use crate::common::zvm::{
    alone, cp, endless, free_cp, paging, real_locks, real_paths, served, switch, tile, web,
};
use crate::common::{loops, quiet_unix, MS};
use homenode_engine::sim::{check, run, RunError};
use homenode_engine::spec::{CpShare, Guest, Layer, Role, Spec, Workload};
use proptest::prelude::*;
use serde_json::{json, Value};

const EVENTS: u64 = 20_000;
const BATCHES: u32 = 20;

/// A small partition in which every field has its say.
fn full_spec() -> Spec {
    let mut machines = tile(0, 2, 3);
    machines.extend(endless(1));
    machines.push(served("out", 2, 5000.0, 1e5));
    machines[6].switch = Some(0);
    machines[6].work.as_mut().expect("work").answer_bytes = 20_000;
    machines[0].maximum = Some(CpShare::Absolute(0.5));
    machines[1].share = CpShare::Absolute(0.25);
    machines[2].limit_hard = true;
    machines[2].maximum = Some(CpShare::Relative(50));
    let mut zvm = free_cp(machines, vec![switch("s")]);
    zvm.switches[0].layer = Layer::Ip;
    zvm.paths = real_paths();
    zvm.locks = real_locks();
    zvm.paging = Some(paging(2));
    zvm.park_interval_ns = 10 * MS;
    (zvm.daemon_rate_per_s, zvm.daemon_ns) = (1_000.0, 20_000);
    let mut spec = alone(4, zvm, web());
    let guests: u64 = cp(&mut spec.partitions[0])
        .machines
        .iter()
        .map(|machine| machine.memory_bytes)
        .sum();
    spec.partitions[0].memory[0].bytes = guests / 2;
    spec.partitions[0].data_bytes = guests / 2;
    spec.warmup_ns = 10 * MS;
    spec.duration_ns = 30 * MS;
    spec
}

fn numbers(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(path.into()),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(at, item)| numbers(item, &format!("{path}/{at}"), found)),
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, field)| numbers(field, &format!("{path}/{name}"), found)),
        _ => {}
    }
}

/// Paths of the numbers of guest and workload.
fn paths() -> Vec<String> {
    let value = serde_json::to_value(full_spec()).expect("a spec is JSON");
    let mut all = Vec::new();
    numbers(&value, "", &mut all);
    let ours = |path: &String| path.contains("/guest/") || path.contains("/workload/");
    all.into_iter().filter(ours).collect()
}

fn nasty() -> Vec<Value> {
    let mut all: Vec<Value> = [-1.0, 0.0, 0.5, 1e-300, 1e300, -1e300, 1e9, 1e-9]
        .map(|x| json!(x))
        .to_vec();
    all.extend([0, 1, 3, 255, 65_535, 1 << 32, 1 << 53, u64::MAX].map(|n: u64| json!(n)));
    all
}

fn changed(changes: &[(&str, &Value)]) -> Option<Spec> {
    let mut value = serde_json::to_value(full_spec()).expect("a spec is JSON");
    for (path, number) in changes {
        *value.pointer_mut(path).expect("a path") = (*number).clone();
    }
    serde_json::from_value(value).ok()
}

fn is_refused(spec: &Spec) -> bool {
    let mut batches = 0;
    let outcome = run(spec, 0, |batch| {
        batches += 1;
        batches < BATCHES && batch.events < EVENTS
    });
    if let Err(RunError::Spec(fault)) = &outcome {
        let value = serde_json::to_value(spec).expect("a spec is JSON");
        let (at, there) = (&fault.at, value.pointer(&fault.at));
        assert!(there.is_some(), "{fault}: nothing stands at {at:?}");
    }
    matches!(outcome, Err(RunError::Spec(_)))
}

#[test]
fn any_nasty_number_anywhere_is_refused_or_simulated() {
    assert!(!is_refused(&full_spec()));
    let (mut refused, mut ran) = (0, 0);
    for path in &paths() {
        for number in &nasty() {
            match changed(&[(path, number)]).map(|spec| is_refused(&spec)) {
                Some(true) => refused += 1,
                Some(false) => ran += 1,
                None => {}
            }
        }
    }
    assert!(refused > 200 && ran > 300, "{refused} refused, {ran} ran");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 150,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn several_at_once_too(
        changes in prop::collection::vec((any::<usize>(), any::<usize>()), 2..5),
    ) {
        let (paths, nasty) = (paths(), nasty());
        let changes: Vec<_> = changes
            .into_iter()
            .map(|(at, what)| (paths[at % paths.len()].as_str(), &nasty[what % nasty.len()]))
            .collect();
        if let Some(spec) = changed(&changes) {
            is_refused(&spec);
        }
    }
}

/// What the check says of a spec with one thing changed.
fn refusal(change: impl FnOnce(&mut Spec)) -> String {
    let mut spec = full_spec();
    change(&mut spec);
    check(&spec).expect_err("unsound").to_string()
}

#[test]
fn a_fault_names_owner_field_and_range() {
    let text = refusal(|spec| cp(&mut spec.partitions[0]).locks.delay = 0.0);
    assert_eq!(text, "partition zvm: locks.delay is 0, it must be 1 to 1e6");
    let text = refusal(|spec| {
        cp(&mut spec.partitions[0]).machines[0].share = CpShare::Absolute(1.2);
    });
    assert!(
        text.starts_with("partition zvm: virtual machine client0.0: share is 1.2"),
        "{text}"
    );
    let text = refusal(|spec| cp(&mut spec.partitions[0]).machines[1].switch = Some(3));
    assert!(text.contains("client0.1: switch 3 is not there"), "{text}");
    let text = refusal(|spec| {
        let zvm = cp(&mut spec.partitions[0]);
        zvm.machines.retain(|machine| machine.role != Role::Server);
    });
    assert!(text.contains("switch s: servers is 0"), "{text}");
    let text = refusal(|spec| cp(&mut spec.partitions[0]).machines[6].switch = None);
    assert!(
        text.contains("machine out: answer_bytes is 20000, it must be 0 without a switch"),
        "{text}"
    );
    let text = refusal(|spec| cp(&mut spec.partitions[0]).machines[6].role = Role::Idle);
    assert!(
        text.contains("given with the role work, and with no other"),
        "{text}"
    );
    let text = refusal(|spec| cp(&mut spec.partitions[0]).machines[1].name = "client0.0".into());
    assert!(
        text.contains("virtual machine client0.0 occurs twice"),
        "{text}"
    );
}

#[test]
fn connections_beyond_what_can_be_kept_apart_are_told_with_their_switch() {
    let mut spec = full_spec();
    let zvm = cp(&mut spec.partitions[0]);
    let mut machines = tile(0, 1, 1);
    machines.extend(tile(1, 300, 300));
    (zvm.machines, zvm.switches) = (machines, vec![switch("a"), switch("b")]);
    let fault = check(&spec).expect_err("too many");
    assert_eq!(fault.at, "/partitions/0/guest/switches/1");
    let text = fault.to_string();
    assert!(
        text.starts_with("partition zvm: its clients and servers make 90001 connections"),
        "{text}"
    );
    assert!(text.contains("at most 65536"), "{text}");
}

#[test]
fn guests_without_room_are_refused() {
    let text = refusal(|spec| cp(&mut spec.partitions[0]).paging = None);
    assert!(text.contains("find no place"), "{text}");
}

#[test]
fn web_is_for_zvm_and_zvm_for_web() {
    let text = refusal(|spec| spec.partitions[0].workload = loops(2));
    assert!(text.contains("web"), "{text}");
    let text = refusal(|spec| spec.partitions[0].guest = Guest::Linux(quiet_unix()));
    assert!(text.contains("z/VM"), "{text}");
    let mut spec = full_spec();
    spec.partitions[0].workload = Workload::Idle;
    assert!(check(&spec).is_ok());
}
