//! Policy `round_robin`: turns of one length under whole partitions, and what always holds.

use crate::common::host::{group, host_machine, host_spec, of_kvm, on_off, plain_kvm, threads};
use crate::common::{
    assert_all, loops, missing_profile, run, transactions, users, Outcome, MS, SECOND,
};
use homenode_engine::sim;
use homenode_engine::spec::{
    Cgroup, Distribution, HostThreads, Kvm, Partition, Policy, Spec, Workload,
};

const QUANTUM: u64 = 10 * MS;

fn looping(name: &str, count: u16) -> Partition {
    let processors = threads(count, 100, HostThreads::default());
    group(name, processors, loops(u32::from(count)))
}

fn host(machine: &str, partitions: Vec<Partition>) -> Spec {
    let mut spec = host_spec(
        host_machine(Policy::RoundRobin, machine),
        vec![],
        partitions,
    );
    spec.duration_ns = 3 * SECOND;
    spec
}

fn busy(outcome: &Outcome, name: &str) -> f64 {
    outcome.total(name, "busy_ns")
}

fn near(got: f64, wanted: f64, most_off: f64) {
    assert!((got - wanted).abs() <= most_off, "{got}, not {wanted}");
}

#[test]
fn two_on_one_processor_have_half_each() {
    let outcome = run(&host("core:1", vec![looping("a", 1), looping("b", 1)]), 0);
    for name in ["a", "b"] {
        near(busy(&outcome, name), 1.5e9, QUANTUM as f64);
        // 300 turns, of which each has every other.
        near(outcome.total(name, "nivcsw"), 150.0, 1.0);
    }
}

#[test]
fn three_on_two_processors_have_two_thirds_each() {
    let names = ["a", "b", "c"];
    let spec = host("core:2", names.map(|name| looping(name, 1)).into());
    let outcome = run(&spec, 0);
    for name in names {
        near(busy(&outcome, name), 2e9, QUANTUM as f64);
    }
}

/// Weighed by nothing but their number: three threads of four have three quarters.
#[test]
fn threads_count_alike_whoever_they_belong_to() {
    let outcome = run(
        &host("core:2", vec![looping("three", 3), looping("one", 1)]),
        0,
    );
    near(busy(&outcome, "three"), 4.5e9, 2.0 * QUANTUM as f64);
    near(busy(&outcome, "one"), 1.5e9, QUANTUM as f64);
}

#[test]
fn turns_follow_each_other_in_order() {
    let names = ["a", "b", "c"];
    let mut spec = host("core:1", names.map(|name| looping(name, 1)).into());
    spec.record_dispatches = true;
    let outcome = run(&spec, 0);
    let at = |column| outcome.dispatches.at(column);
    let turns: Vec<_> = outcome.dispatches.rows().collect();
    assert!(turns.len() > 290);
    for (place, turn) in turns.iter().enumerate() {
        assert_eq!(turn[at("partition")], (place % 3) as i64);
        assert_eq!(turn[at("start_ns")], (place as u64 * QUANTUM) as i64);
    }
}

#[test]
fn a_thread_alone_is_never_switched() {
    let outcome = run(&host("core:2", vec![looping("a", 2)]), 0);
    assert_eq!(busy(&outcome, "a"), 6e9);
    assert_eq!(outcome.total("a", "nivcsw"), 0.0);
    assert_eq!(outcome.total("a", "host_migrations"), 0.0);
}

#[test]
fn the_quantum_can_be_set() {
    let mut spec = host("core:1", vec![looping("a", 1), looping("b", 1)]);
    let settings = &mut spec.machine.hypervisor.settings;
    settings.insert("quantum_ns".into(), 2 * MS);
    near(run(&spec, 0).total("a", "nivcsw"), 750.0, 1.0);
}

#[test]
fn a_switch_costs_what_the_host_says() {
    let mut spec = host("core:1", vec![looping("a", 1), looping("b", 1)]);
    spec.machine.hypervisor.linux.switch_ns = 100_000;
    let outcome = run(&spec, 0);
    let done = |name| outcome.total(name, "instructions");
    // One of 100 parts of each turn; an instruction is a nanosecond.
    near(done("a") + done("b"), 0.99 * 3e9, 0.001 * 3e9);
}

/// Who is served late waits for turns: a sleeper beside a loop waits for most of one.
#[test]
fn one_that_wakes_waits_for_the_end_of_a_turn() {
    let mut sleeper = looping("s", 1);
    on_off(1, 1e6, 50 * MS, &mut sleeper);
    let outcome = run(&host("core:1", vec![sleeper, looping("b", 1)]), 0);
    let waited = outcome.of("s").dispatch_wait;
    assert!(waited.mean > 1e6 && waited.max <= QUANTUM, "{waited:?}");
    assert_eq!(outcome.total("s", "nivcsw"), 0.0);
}

#[test]
fn pinned_threads_stay() {
    let mut pinned = looping("p", 2);
    let host_words = HostThreads {
        pins: vec![vec![0], vec![0]],
        ..HostThreads::default()
    };
    pinned.processors = threads(2, 100, host_words);
    let outcome = run(&host("core:2", vec![pinned, looping("f", 1)]), 0);
    near(busy(&outcome, "p"), 3e9, 2.0 * QUANTUM as f64);
    near(busy(&outcome, "f"), 3e9, 2.0 * QUANTUM as f64);
    assert_eq!(outcome.total("p", "host_migrations"), 0.0);
}

/// Guests that poll, spin and yield, processes and transactions, on eight processors of two nodes.
fn crowded(siblings: u8) -> Spec {
    let mut machine = host_machine(Policy::RoundRobin, "node:2 chip:2 core:2 pu:2");
    machine.hypervisor.siblings = siblings;
    machine.hypervisor.linux.switch_ns = 1_500;
    let partition = |at: u16| {
        let host = HostThreads {
            kvm: (at % 2 == 0).then(Kvm::default),
            ..HostThreads::default()
        };
        let workload = match at % 3 {
            0 => transactions(300.0, Distribution::Exponential),
            1 => users(20, 5 * MS),
            _ => loops(4),
        };
        let mut one = group(&format!("p{at}"), threads(4, 100, host), workload);
        one.profile = missing_profile(1e6);
        one.profile.lock_share = 0.1;
        one
    };
    let mut spec = host_spec(machine, vec![], (0..6).map(partition).collect());
    spec.duration_ns = 3 * SECOND;
    spec.interval_ns = SECOND / 2;
    spec
}

#[test]
fn what_always_holds_holds_here_and_again() {
    for siblings in [1, 2] {
        let spec = crowded(siblings);
        let (a, b) = (run(&spec, 0), run(&spec, 0));
        assert_all(&spec, &a);
        assert_eq!((a.partition, a.cpu, a.pool), (b.partition, b.cpu, b.pool));
    }
}

#[test]
fn nobody_waits_beside_an_idle_processor() {
    let mut guest = looping("g", 3);
    guest.processors = threads(3, 100, of_kvm(plain_kvm()));
    let mut open = looping("o", 4);
    open.workload = transactions(900.0, Distribution::Exponential);
    let outcome = run(&host("core:4", vec![guest, open]), 0);
    let idle = outcome.summary.pool_idle_ns as f64;
    let used = busy(&outcome, "g") + busy(&outcome, "o");
    assert_eq!(idle + used, 12e9);
    assert!(
        busy(&outcome, "g") > 8e9,
        "loops take what transactions leave"
    );
}

#[test]
fn pairs_of_processes_exchange_messages() {
    let mut pairs = looping("x", 2);
    pairs.workload = Workload::Pairs {
        count: 1,
        exchanges: 1000,
        client_share: 0.5,
        think_ns: 0,
        think: Distribution::Constant,
        burst_work: Distribution::Constant,
        message_bytes: 0,
        generator: None,
    };
    pairs.profile.instructions_per_unit = 1e6;
    let outcome = run(&host("core:1", vec![pairs]), 0);
    assert!(outcome.total("x", "nvcsw") > 1000.0);
}

fn refused(change: impl FnOnce(&mut Spec), words: &str) {
    let mut spec = host("core:1", vec![looping("a", 1)]);
    change(&mut spec);
    let fault = sim::check(&spec).expect_err(words).to_string();
    assert!(fault.contains(words), "{fault}");
}

fn refused_of_threads(words: HostThreads) {
    let change = |spec: &mut Spec| spec.partitions[0].processors = threads(1, 100, words);
    refused(change, "leave it out or choose another policy");
}

#[test]
fn what_it_does_not_know_is_refused() {
    let plain = HostThreads::default;
    refused_of_threads(HostThreads { nice: 5, ..plain() });
    refused_of_threads(HostThreads {
        cap: Some(0.5),
        ..plain()
    });
    refused_of_threads(HostThreads {
        slice_ns: Some(MS),
        ..plain()
    });
    let group: Cgroup = serde_json::from_str(r#"{ "name": "g" }"#).unwrap();
    refused(|spec| spec.cgroups.push(group), "knows none: pin threads");
}

#[test]
fn a_setting_is_known_and_in_its_range() {
    let set = |name: &str, value| {
        let name = name.to_owned();
        move |spec: &mut Spec| {
            spec.machine.hypervisor.settings.insert(name, value);
        }
    };
    refused(set("quantum_ns", 10), "it must be 1000000 to 100000000");
    refused(
        set("slice_ns", MS),
        "slice_ns is 1000000, it must be left out",
    );
    let of_another = |spec: &mut Spec| {
        set("quantum_ns", MS)(spec);
        spec.machine.hypervisor.policy = Policy::Linux;
    };
    refused(of_another, "quantum_ns is 1000000, it must be left out");
}
