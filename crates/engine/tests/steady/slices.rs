//! Solved waits of PR/SM's logical cores that are within their share: which way they go, and how
//! far they are from those of a run.

use crate::common;
use crate::common::{
    loops, machine, missing_profile, partition, shared, spec, transactions, vertical,
};
use homenode_engine::cost::{Book, Books};
use homenode_engine::spec::{Distribution, Policy, Processors, Spec, Workload};
use homenode_engine::steady::solve;

/// A logical core with bursts of a millisecond beside loops of weight 300, all horizontal.
#[derive(Clone, Copy, Debug)]
struct Beside {
    cores: u16,
    loops: u16,
    weight: u16,
    slice_ns: u64,
    rate: f64,
}

const FULL: Beside = Beside {
    cores: 8,
    loops: 8,
    weight: 20,
    slice_ns: 20_000_000,
    rate: 100.0,
};

impl Beside {
    fn spec(self) -> Spec {
        let weigh = |mut processors: Processors, of: u16| {
            if let Processors::Shared { weight, .. } = &mut processors {
                *weight = of;
            }
            processors
        };
        let work = transactions(self.rate, Distribution::Exponential);
        let neighbours = weigh(shared(0.0, self.loops), 300);
        let own = weigh(shared(0.0, 1), self.weight);
        let mut made = spec(
            machine(&format!("core:{}", self.cores)),
            vec![
                partition("a", neighbours, loops(self.loops.into())),
                partition("b", own, work),
            ],
        );
        made.machine.hypervisor.policy = Policy::Prsm;
        made.machine.hypervisor.prsm.run_time_ns = Some(self.slice_ns);
        (made.warmup_ns, made.duration_ns) = (0, 20 * common::SECOND);
        made
    }

    /// Mean response [ms].
    fn solved(self) -> f64 {
        let solved = solve(&self.spec()).unwrap_or_else(|fault| panic!("{fault}"));
        solved.partitions[1].response_ns.expect("it is steady") * 1e-6
    }

    fn simulated(self) -> f64 {
        let outcome = common::run(&self.spec(), 0);
        outcome.of("b").response.mean * 1e-6
    }
}

#[test]
fn while_a_core_is_left_nobody_waits() {
    let few = Beside { loops: 2, ..FULL }.solved();
    let more = Beside { loops: 7, ..FULL }.solved();
    assert!((more / few - 1.0).abs() < 0.01, "{few} {more}");
}

#[test]
fn one_neighbour_more_than_there_is_room_for_and_longer_slices_make_waits_longer() {
    let room = Beside { loops: 7, ..FULL }.solved();
    let full = FULL.solved();
    assert!(full > room + 1.0, "{room} {full}");
    let long = Beside {
        slice_ns: 40_000_000,
        ..FULL
    };
    assert!(long.solved() > full + 1.0, "{full} {}", long.solved());
}

#[test]
fn more_cores_and_a_larger_share_make_waits_shorter() {
    let full = FULL.solved();
    let wide = Beside { cores: 9, ..FULL }.solved();
    assert!(wide < full - 1.0, "{full} {wide}");
    let mut before = f64::INFINITY;
    for weight in [5, 10, 20, 40] {
        let now = Beside { weight, ..FULL }.solved();
        assert!(now < before, "{weight}: {now}, {before}");
        before = now;
    }
}

#[test]
fn what_comes_while_a_logical_core_waits_does_not_wait_anew() {
    for rate in [25.0, 100.0] {
        for weight in [10, 20] {
            let one = Beside {
                rate,
                weight,
                ..FULL
            };
            let (solved, simulated) = (one.solved(), one.simulated());
            let apart = solved / simulated - 1.0;
            assert!(
                apart.abs() < 0.25,
                "{one:?}: {solved}, in a run {simulated}"
            );
        }
    }
}

/// Vertical logical cores, capped, with so many threads that always have work, beside loops.
fn capped(cores: u16, threads: u32) -> Spec {
    let mut own = vertical(cores);
    if let Processors::Shared { capped, .. } = &mut own {
        *capped = true;
    }
    let work = Workload::Warehouses { count: threads };
    let mut beside = vertical(8);
    if let Processors::Shared { weight, .. } = &mut beside {
        *weight = 350;
    }
    let mut made = spec(
        machine("core:8"),
        vec![partition("a", own, work), partition("b", beside, loops(8))],
    );
    made.machine.hypervisor.policy = Policy::Prsm;
    (made.warmup_ns, made.duration_ns) = (common::SECOND, 4 * common::SECOND);
    made
}

#[test]
fn what_is_entitled_to_nothing_at_a_cap_does_nothing() {
    // It is entitled to one core: a second thread stands on a logical core that never runs.
    let of = |spec: &Spec| solve(spec).unwrap().partitions[0].clone();
    let [one, four] = [1, 4].map(|threads| of(&capped(4, threads)));
    assert!(
        (one.cores / four.cores - 1.0).abs() < 1e-3,
        "{one:?} {four:?}"
    );
    let response = [&one, &four].map(|of| of.response_ns.unwrap());
    assert!(
        (response[0] / response[1] - 1.0).abs() < 1e-3,
        "{response:?}"
    );
    let outcome = common::run(&capped(4, 4), 0);
    let simulated = outcome.of("a").response.mean;
    assert!(
        (response[1] / simulated - 1.0).abs() < 0.05,
        "{response:?}, {simulated}"
    );
}

#[test]
fn where_others_wait_for_each_core_that_is_left_caches_are_cold() {
    let of = |neighbours: u16| {
        let beside = Beside {
            loops: neighbours,
            weight: 300,
            rate: 1_000.0,
            ..FULL
        };
        let mut made = beside.spec();
        for one in &mut made.partitions {
            one.profile = missing_profile(1e5);
        }
        let reload = |books: &Books| books.of(Book::Reload) / books.total();
        reload(&solve(&made).unwrap().partitions[1].books)
    };
    let (room, full) = (of(6), of(12));
    assert!(room < 0.2 * full && full > 0.01, "{room} {full}");
}

#[test]
fn where_those_that_ever_run_have_a_core_each_nobody_takes_anothers() {
    // Five logical cores of the capped partition ever run, and four beside them.
    let made = |is_capped: bool| {
        let mut own = vertical(8);
        if let Processors::Shared { capped, weight, .. } = &mut own {
            (*capped, *weight) = (is_capped, 128);
        }
        let each = [own, shared(0.0, 4)].map(|processors| {
            let work = transactions(2_600.0, Distribution::Exponential);
            let mut one = partition("", processors, work);
            one.profile = missing_profile(1e6);
            one
        });
        let mut made = spec(machine("core:9"), each.to_vec());
        made.partitions[0].name = "a".into();
        made.partitions[1].name = "b".into();
        made.machine.hypervisor.policy = Policy::Prsm;
        (made.warmup_ns, made.duration_ns) = (common::SECOND, 4 * common::SECOND);
        made
    };
    let told = |spec: &Spec| solve(spec).unwrap().partitions[1].books.of(Book::Reload);
    let played = |spec: &Spec| {
        let busy = common::run(spec, 0);
        busy.total("b", "book_reload") / spec.duration_ns as f64
    };
    assert!(told(&made(true)) < 1e-4 && played(&made(true)) < 1e-4);
    // All eight of it do where it is not capped, on three cores fewer than there are of them.
    assert!(told(&made(false)) > 3e-3);
}
