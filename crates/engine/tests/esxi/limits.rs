//! Policy `esxi`: what virtual machines get beside limits, held against exact water-filling.

use crate::common::esxi::{assert_cores, cores, due, esxi, of, vm, with, RUN_S};
use crate::common::{run, Outcome, MS};
use homenode_engine::kernel::Stream;
use homenode_engine::spec::{Partition, Processors};

#[test]
fn a_limit_holds_beside_idle_processors() {
    let outcome = run(
        &esxi(
            "core:4",
            vec![of("a", 4, None, 0.0, Some(1.5)), vm("b", 1, None)],
        ),
        0,
    );
    assert_cores(&outcome, "a", 1.5, 0.01);
    // What four are entitled to leaves the fifth one a whole processor. They have three for 10 of
    // each 20 ms and are held for the rest, but for the one that its siblings' lead has stopped.
    assert_cores(&outcome, "b", 1.0, 0.01);
    let held = outcome.total("a", "throttled_ns") / (RUN_S * 1e9);
    assert!((held - 1.5).abs() < 0.05, "{held}");
}

/// Random hosts, with or without limits. A limit comes in bursts, and so does what it leaves: with
/// lower ones than here others cannot always use it.
fn random_hosts(limits: bool, within: f64) {
    let mut chance = Stream::new(11, 0, "hosts");
    for host in 0..60 {
        let cores = 1 + chance.below(24);
        let mut vms = Vec::new();
        let mut claims = Vec::new();
        let mut unreserved = cores as f64;
        for at in 0..2 + chance.below(6) {
            let vcpus = 1 + chance.below(cores.min(12));
            let limit = (limits && chance.below(3) == 0).then_some(0.6 * vcpus as f64);
            let most = limit.unwrap_or(vcpus as f64);
            let shares = [500, 1000, 2000, 250][chance.below(4) as usize] * vcpus as u32;
            let wish = if chance.below(3) == 0 {
                most * 0.8
            } else {
                0.0
            };
            let reserved = wish.min(unreserved * 0.5);
            unreserved -= reserved;
            claims.push((f64::from(shares), reserved, most));
            vms.push(of(
                &format!("v{at}"),
                vcpus as u16,
                Some(shares),
                reserved,
                limit,
            ));
        }
        // A run of few quanta of 200 ms would tell their length.
        let spec = with(esxi(&format!("core:{cores}"), vms), "quantum_ns", 20 * MS);
        let outcome = run(&spec, 0);
        for (at, wanted) in due(cores as f64, &claims).into_iter().enumerate() {
            let got = cores_of(&outcome, at);
            let off = (got - wanted).abs();
            assert!(
                off <= within * wanted + 0.02,
                "host {host}, v{at}: {got} not {wanted} {claims:?} {cores}"
            );
        }
    }
}

#[test]
fn random_hosts_share_as_exact_water_filling_says() {
    random_hosts(false, 0.02);
    random_hosts(true, 0.05);
}

#[test]
fn a_limit_of_one_takes_nothing_from_another_that_all_could_have() {
    // Four that may use 1.2 cores together leave a core for one, though all four run at a time.
    let vms = vec![
        of("one", 1, Some(1000), 0.0, None),
        of("wide", 4, Some(4000), 0.0, Some(1.2)),
    ];
    let outcome = run(&esxi("core:4", vms), 0);
    assert_cores(&outcome, "one", 1.0, 0.01);
    assert_cores(&outcome, "wide", 1.2, 0.01);
    // The one with most shares gets all that its limit lets it have, whoever else has reserved.
    let vms = vec![
        of("limited", 1, Some(1000), 0.0, Some(0.6)),
        of("sure", 1, Some(400), 0.2, None),
        of("wide", 4, Some(400), 0.0, None),
        of("other", 2, Some(400), 0.0, None),
    ];
    let outcome = run(&esxi("core:4", vms), 0);
    assert_cores(&outcome, "limited", 0.6, 0.015);
}

#[test]
fn a_limit_on_pins_is_beside_shares_that_count_as_they_are() {
    let pinned = |mut one: Partition, cpus: u16| {
        if let Processors::Shared {
            r#virtual, host, ..
        } = &mut one.processors
        {
            host.pins = vec![(0..cpus).collect(); usize::from(*r#virtual)];
        }
        one
    };
    // Of two processors each has a half, whatever else the host has to give to whom.
    let few = of("few", 1, Some(1), 0.0, None);
    for limit in [1.0, 1.8] {
        let vms = vec![
            pinned(of("big", 2, Some(2000), 0.0, None), 2),
            pinned(of("limited", 4, Some(2000), 0.0, Some(limit)), 2),
            few.clone(),
        ];
        let outcome = run(&esxi("core:8", vms), 0);
        assert_cores(&outcome, "big", 1.0, 0.03);
        assert_cores(&outcome, "limited", 1.0, 0.03);
        assert_cores(&outcome, "few", 1.0, 0.01);
    }
}

#[test]
fn a_limit_counts_for_what_it_leaves_whoever_else_has_few_shares() {
    // All could have what they can use, so shares have no say: not even one of a single share.
    let vms = vec![
        of("big", 8, Some(2000), 0.0, None),
        of("limited", 8, Some(2000), 0.0, Some(4.0)),
        of("few", 1, Some(1), 0.0, None),
    ];
    let outcome = run(&esxi("core:13", vms), 0);
    for (name, all) in [("big", 8.0), ("limited", 4.0), ("few", 1.0)] {
        assert_cores(&outcome, name, all, 0.05 * all);
    }
}

fn cores_of(outcome: &Outcome, at: usize) -> f64 {
    cores(outcome, &format!("v{at}"))
}
