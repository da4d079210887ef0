//! The scheduler alone: who runs where after each thing that it is told.

use serde_json::json;

use super::super::bare;
use super::*;
use crate::hypervisor::State;
use crate::spec::Policy;

const MS: u64 = 1_000_000;
const TURN: u64 = 10 * MS;
/// The only core, or the first one.
const CPU: CoreId = CoreId::new(0);

/// A host on which each thread is a partition of its own, with these pins.
fn host(machine: &str, pins: &[&[u16]]) -> RoundRobin {
    let partition = |(at, pins): (usize, &&[u16])| {
        let processors = json!({
            "mode": "shared", "virtual": 1, "capped": false, "weight": 100, "pool": 0,
            "host": { "pins": [pins] }
        });
        bare::partition(at, &processors, &[0])
    };
    let partitions: Vec<_> = pins.iter().enumerate().map(partition).collect();
    let spec = bare::spec(machine, Policy::RoundRobin, &json!([]), &partitions);
    RoundRobin::begin(&spec, &State::new(&spec), 0)
}

/// Asks all pending cores, as the simulation does; nobody waits beside a core for it that idles.
fn serve(host: &mut RoundRobin, now: u64) {
    while let Some(core) = host.take_pending() {
        host.pick(core, now);
    }
    for (core, at) in host.cores.entries() {
        assert!(at.runner.is_some() || !host.has_waiting(core));
        assert!(at.runner.is_none_or(|vp| host.threads[vp].on == Some(core)));
    }
}

fn wake(host: &mut RoundRobin, vps: &[u32], now: u64) {
    for vp in vps {
        host.wake(VpId::from(*vp), None, now);
        serve(host, now);
    }
}

fn sleep(host: &mut RoundRobin, vp: u32, now: u64) {
    host.sleep(VpId::from(vp), now);
    serve(host, now);
}

/// Goes on to when the next turns end, and sees to them; that time.
fn next(host: &mut RoundRobin) -> u64 {
    let cores = host.cores.ids();
    let first = cores.clone().map(|core| host.look_at(core, 0)).min();
    let now = first.and_then(When::ns).unwrap();
    for core in cores {
        if host.look_at(core, now).has_come(now) {
            host.look(core, now);
            serve(host, now);
        }
    }
    now
}

fn running(host: &RoundRobin) -> Vec<Option<u32>> {
    let cores = host.cores.iter();
    cores.map(|core| core.runner.map(u32::from)).collect()
}

#[test]
fn turns_go_round_in_the_order_of_coming() {
    let mut host = host("core:1", &[&[], &[], &[]]);
    wake(&mut host, &[2, 0, 1], 0);
    let mut order = running(&host);
    for turn in 1..6 {
        assert_eq!(next(&mut host), turn * TURN);
        order.extend(running(&host));
    }
    assert_eq!(order, [2, 0, 1, 2, 0, 1].map(Some));
}

#[test]
fn three_on_two_have_two_turns_of_three() {
    let mut host = host("core:2", &[&[], &[], &[]]);
    wake(&mut host, &[0, 1, 2], 0);
    let mut turns = [0; 3];
    for _ in 0..30 {
        for vp in running(&host).into_iter().flatten() {
            turns[vp as usize] += 1;
        }
        next(&mut host);
    }
    assert_eq!(turns, [20, 20, 20]);
}

#[test]
fn who_is_alone_has_another_turn_where_it_is() {
    let mut host = host("core:2", &[&[]]);
    wake(&mut host, &[0], 0);
    for turn in 1..9 {
        assert_eq!(next(&mut host), turn * TURN);
        assert_eq!(running(&host), [Some(0), None]);
    }
    assert_eq!(host.counted(PartitionId::new(0), 0).migrations, 0);
}

#[test]
fn one_that_wakes_waits_for_the_end_of_a_turn() {
    let mut host = host("core:1", &[&[], &[]]);
    wake(&mut host, &[0], 0);
    wake(&mut host, &[1], 3 * MS);
    assert!(host.has_waiting(CPU));
    assert_eq!(running(&host), [Some(0)]);
    assert_eq!(next(&mut host), TURN);
    assert_eq!(running(&host), [Some(1)]);
    sleep(&mut host, 1, 12 * MS);
    assert_eq!(
        (running(&host), host.look_at(CPU, 0)),
        (vec![Some(0)], When::at(22 * MS))
    );
}

#[test]
fn one_that_sleeps_in_line_is_forgotten() {
    let mut host = host("core:1", &[&[], &[], &[]]);
    wake(&mut host, &[0, 1, 2], 0);
    sleep(&mut host, 1, MS);
    next(&mut host);
    assert_eq!(running(&host), [Some(2)]);
    sleep(&mut host, 2, 11 * MS);
    sleep(&mut host, 0, 12 * MS);
    assert_eq!(
        (running(&host), host.look_at(CPU, 0)),
        (vec![None], When::NEVER)
    );
}

#[test]
fn a_thread_comes_back_to_its_last_core_if_that_idles() {
    let mut host = host("core:2", &[&[], &[]]);
    wake(&mut host, &[0, 1], 0);
    sleep(&mut host, 0, MS);
    sleep(&mut host, 1, MS);
    wake(&mut host, &[1], 2 * MS);
    assert_eq!(running(&host), [None, Some(1)]);
    sleep(&mut host, 1, 3 * MS);
    wake(&mut host, &[0, 1], 4 * MS);
    assert_eq!(running(&host), [Some(0), Some(1)]);
    assert_eq!(
        host.counted(PartitionId::new(0), 0).migrations
            + host.counted(PartitionId::new(1), 0).migrations,
        0
    );
}

#[test]
fn pins_hold_and_who_may_move_makes_room() {
    let mut host = host("core:2", &[&[], &[0]]);
    wake(&mut host, &[0, 1], 0);
    assert_eq!(running(&host), [Some(0), None]);
    next(&mut host);
    assert_eq!(running(&host), [Some(1), Some(0)]);
    assert_eq!(host.counted(PartitionId::new(0), 0).migrations, 1);
    for _ in 0..5 {
        next(&mut host);
        assert_eq!(running(&host), [Some(1), Some(0)]);
    }
}

#[test]
fn who_yields_gives_its_turn_to_the_sibling() {
    let mut host = host("core:1", &[&[], &[], &[]]);
    wake(&mut host, &[0, 1, 2], 0);
    assert!(
        !host.yield_to(VpId::new(1), VpId::new(2), MS),
        "it does not run"
    );
    assert!(host.yield_to(VpId::new(0), VpId::new(2), MS));
    serve(&mut host, MS);
    assert_eq!(running(&host), [Some(2)]);
    assert!(
        !host.yield_to(VpId::new(2), VpId::new(2), MS),
        "it does not wait"
    );
    next(&mut host);
    assert_eq!(running(&host), [Some(1)]);
}
