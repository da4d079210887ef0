//! Virtual machines that run briefly and often, beside others that never wait.

use crate::common::race::water_fill;
use crate::common::zvm::{alone, cp, endless, free_cp, served, switch, virtual_machine, web};
use crate::common::{run, MS, SECOND};
use homenode_engine::guest::zvm::share::weights;
use homenode_engine::spec::{CpShare, Role, Spec, VirtualMachine, Workload};

/// After how long one that runs can be pushed off [us].
const COMES_US: f64 = 250.0;

/// One user, who thinks for so long and then wants so much of one processor [us].
fn user(think_us: u64, work_us: u64) -> VirtualMachine {
    let mut one = served("user", 1, 0.0, work_us as f64 * 1e3);
    let work = one.work.as_mut().expect("it has work");
    (work.users, work.think_ns) = (1, think_us * 1000);
    one
}

/// It beside so many loops on so many cores.
fn beside(one: VirtualMachine, loops: u16, cores: u16) -> Spec {
    let mut machines = vec![one];
    machines.extend(endless(loops));
    let mut spec = alone(cores, free_cp(machines, Vec::new()), Workload::Idle);
    spec.duration_ns = 4 * SECOND;
    spec
}

/// Processors it has, and its mean response [ns].
fn fares(spec: &Spec) -> (f64, f64) {
    let outcome = run(spec, 0);
    let series = outcome
        .virtual_machine
        .series("virtual_machine", 0, "guest_ns");
    let used = series.iter().sum::<i64>() as f64 / spec.duration_ns as f64;
    let response = outcome.total("zvm", "response_ns") / outcome.total("zvm", "tx_done");
    (used, response)
}

/// What water-filling gives it of a demand.
fn worth(spec: &mut Spec, wants: f64, cores: u16) -> f64 {
    let shares: Vec<CpShare> = cp(&mut spec.partitions[0])
        .machines
        .iter()
        .map(|one| one.share)
        .collect();
    let mut demands = vec![1.0; shares.len()];
    demands[0] = wants;
    water_fill(f64::from(cores), &weights(&shares), &demands)[0]
}

/// A share is a claim: a slice of others is many times as long as what it runs for.
#[test]
fn who_runs_briefly_and_often_has_its_share() {
    for (cores, loops) in [(1, 1), (2, 4), (4, 4), (4, 6), (4, 14)] {
        let mut spec = beside(user(150, 500), loops, cores);
        let wants = 500.0 / (650.0 + COMES_US);
        let worth = worth(&mut spec, wants, cores);
        let (used, _) = fares(&spec);
        assert!(
            used > 0.85 * worth && used < 1.05 * worth,
            "{cores} {loops}: {used} of {worth}"
        );
    }
}

/// Who wants much less than its share is on a processor at once, however many wait.
#[test]
fn who_wants_less_than_its_share_does_not_wait_for_the_end_of_slices() {
    for loops in [4, 8, 12] {
        let (_, response) = fares(&beside(user(10_000, 500), loops, 4));
        assert!(response < 1e3 * (510.0 + COMES_US), "{loops}: {response}");
    }
}

/// A neighbour more leaves it what it has, as long as that is less than its share.
#[test]
fn a_neighbour_more_takes_nothing_of_what_a_share_guarantees() {
    let of = |loops| fares(&beside(user(2000, 500), loops, 4)).0;
    let alone = of(0);
    for loops in [4, 8, 12] {
        let now = of(loops);
        let least = alone * 2500.0 / (2500.0 + COMES_US);
        assert!(now > 0.97 * least, "{loops}: {now} {alone}");
    }
}

/// Those that have waited do not push each other off: who serves each other takes turns.
#[test]
fn those_that_all_wait_at_times_do_not_push_each_other_off() {
    let named = |at| VirtualMachine {
        name: format!("user{at}"),
        ..user(1000, 1000)
    };
    let machines: Vec<VirtualMachine> = (0..6).map(named).collect();
    let mut spec = alone(2, free_cp(machines, Vec::new()), Workload::Idle);
    spec.duration_ns = SECOND;
    let outcome = run(&spec, 0);
    let of = |at| {
        let machines = &outcome.virtual_machine;
        machines
            .series("virtual_machine", at, "dispatches")
            .iter()
            .sum::<i64>()
    };
    let (done, put_on) = (
        outcome.total("zvm", "tx_done"),
        (0..6).map(of).sum::<i64>() as f64,
    );
    assert!(put_on < 1.05 * done + 10.0, "{put_on} for {done}");
    assert!(done > 0.9 * 2.0 * (SECOND / MS) as f64, "{done}");
}

/// Mean response of four users beside eight loops on eight cores [ns].
fn four_beside_loops(vertical: bool) -> f64 {
    let named = |at| VirtualMachine {
        name: format!("user{at}"),
        ..user(5000, 500)
    };
    let mut machines: Vec<VirtualMachine> = (0..4).map(named).collect();
    machines.extend(endless(8));
    let mut zvm = free_cp(machines, Vec::new());
    zvm.vertical = vertical;
    let mut spec = alone(8, zvm, Workload::Idle);
    spec.duration_ns = 4 * SECOND;
    fares(&spec).1
}

/// In horizontal polarization whoever idles takes what waits anywhere; so whoever runs makes way.
#[test]
fn any_processor_that_would_take_it_makes_way() {
    let (vertical, horizontal) = (four_beside_loops(true), four_beside_loops(false));
    // Who falls free takes what waits in its own vector first, so it is a little longer.
    assert!(horizontal < 1.12 * vertical, "{horizontal} {vertical}");
}

/// The one that a busy server wakes waits no longer for that server than for anybody.
#[test]
fn who_wakes_another_makes_way_for_it() {
    let client = |at| virtual_machine(&format!("client{at}"), Role::Client, Some(0));
    let mut machines: Vec<VirtualMachine> = (0..4).map(client).collect();
    machines.push(virtual_machine("server", Role::Server, Some(0)));
    let mut spec = alone(1, free_cp(machines, vec![switch("s")]), web());
    // The server always has a request of somebody.
    if let Workload::Web { client_share, .. } = &mut spec.partitions[0].workload {
        *client_share = 0.05;
    }
    spec.partitions[0].profile.instructions_per_unit = 1e6;
    spec.duration_ns = 4 * SECOND;
    let wait = |spec: &Spec| {
        let outcome = run(spec, 0);
        let of = |column| {
            let series = outcome.virtual_machine.series("virtual_machine", 0, column);
            series.iter().sum::<i64>() as f64
        };
        of("wait_ns") / of("dispatches")
    };
    assert!(wait(&spec) < 2e3 * COMES_US, "{}", wait(&spec));
}
