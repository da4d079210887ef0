//! What is entitled to a core's time gets it in every window in which it always had work, whoever
//! wakes in between.

use crate::common::*;
use homenode_engine::spec::{Spread, Workload};

/// Why a dispatch ended: the time was another's, who could not wait any longer.
const PREEMPTED: i64 = 4;
/// Nine tenths of a core, always used.
const STEADY_NS: i64 = 9 * MS as i64;

#[test]
fn who_wakes_late_takes_nothing_from_who_was_there_all_the_window() {
    // In the middle of a window three virtual processors wake, each entitled to a third of it: with
    // what is left of the steady one's slice that is more than two cores have left to give. At two
    // thirds of the window the two that wait must run, or lose; both cores are theirs then. The
    // steady one still has time to go, and must have a core back for all of it.
    let mut steady = partition("steady", capped(0.9, 1), loops(1));
    steady.profile.instructions_per_unit = 1e6;
    let burst = Workload::Trace {
        lengths_ns: vec![25 * MS, MS / 10],
        instructions_per_s: vec![0.0, 3e11],
        spread: Spread::Even,
    };
    let mut late = partition("late", shared(1.0, 3), burst);
    late.profile.instructions_per_unit = 1e7;
    let mut spec = spec(machine("core:2"), vec![steady, late]);
    spec.duration_ns = 100 * MS;
    spec.record_dispatches = true;
    let outcome = run(&spec, 0);
    assert_all(&spec, &outcome);
    let busy = outcome.series("steady", "busy_ns");
    assert!(busy.iter().all(|ns| *ns == STEADY_NS), "{busy:?}");
    // It was thrown off for one of them, and one of them for it.
    let reason = outcome.dispatches.at("reason");
    let preempted = |partition| {
        let rows = outcome.dispatches.only("partition", partition);
        rows.filter(|row| row[reason] == PREEMPTED).count()
    };
    assert!(preempted(0) > 0 && preempted(1) > 1, "nobody is in the way");
}

#[test]
fn who_is_entitled_to_all_of_a_core_comes_home_in_whatever_order_partitions_are_listed() {
    // The wide one's virtual processors are on all cores first. Those on the other node are at the
    // end of each window beyond what they are entitled to, where the small one is at home.
    let one = |name: &str, entitled: f64, vps: u16, node: u16| {
        let mut one = partition(name, shared(entitled, vps), loops(vps.into()));
        one.home = vec![node];
        one.memory[0].domains = vec![node];
        one
    };
    let (wide, small) = (one("wide", 4.0, 8, 0), one("small", 1.0, 1, 1));
    for all in [[small.clone(), wide.clone()], [wide, small]] {
        let spec = spec(machine("node:2 core:4"), all.to_vec());
        let outcome = run(&spec, 0);
        assert_all(&spec, &outcome);
        let at_home = outcome.total("small", "home_ns") / outcome.total("small", "busy_ns");
        assert!(at_home > 0.95, "{at_home} of its time");
    }
}

#[test]
fn of_equals_that_are_stopped_in_each_window_none_is_at_home_more_than_the_others() {
    // Six virtual processors on four cores of their home, each for half of a window: all are there
    // again at its start. By their places in the scenario the last would be away for good.
    let one = |name: &str| {
        let mut one = partition(name, capped(1.0, 2), loops(2));
        one.home = vec![0];
        one.memory[0].domains = vec![0];
        one
    };
    let names = ["first", "second", "third"];
    let mut spec = spec(machine("node:2 core:4"), names.map(one).to_vec());
    spec.duration_ns = 4 * SECOND;
    let outcome = run(&spec, 0);
    assert_all(&spec, &outcome);
    for name in names {
        let at_home = outcome.total(name, "home_ns") / outcome.total(name, "busy_ns");
        assert!(
            (at_home - 2.0 / 3.0).abs() < 0.06,
            "{name}: {at_home} of its time"
        );
    }
}
