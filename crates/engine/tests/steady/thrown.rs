//! Solved logical cores of PR/SM that are thrown off when they are beyond their share: which way
//! that goes, and how far it is from a run.

use crate::common;
use crate::common::{loops, machine, partition, shared, spec, transactions};
use homenode_engine::spec::{Distribution, Policy, Processors, Spec};
use homenode_engine::steady::solve;

/// Bursts of a millisecond on logical cores within their share, beside loops beyond theirs.
#[derive(Clone, Copy, Debug)]
struct Full {
    cores: u16,
    loops: u16,
    rate: f64,
}

const FULL: Full = Full {
    cores: 4,
    loops: 4,
    rate: 1_000.0,
};

impl Full {
    fn spec(self) -> Spec {
        let weigh = |mut processors: Processors, of: u16| {
            if let Processors::Shared { weight, .. } = &mut processors {
                *weight = of;
            }
            processors
        };
        let work = transactions(self.rate, Distribution::Exponential);
        let (own, beside) = (
            weigh(shared(0.0, 4), 900),
            weigh(shared(0.0, self.loops), 20),
        );
        let mut made = spec(
            machine(&format!("core:{}", self.cores)),
            vec![
                partition("a", own, work),
                partition("b", beside, loops(self.loops.into())),
            ],
        );
        made.machine.hypervisor.policy = Policy::Prsm;
        made.machine.hypervisor.prsm.run_time_ns = Some(20_000_000);
        (made.warmup_ns, made.duration_ns) = (common::SECOND, 5 * common::SECOND);
        made
    }

    /// How often the loops are thrown off in a second: all that is told of their dispatches.
    fn solved(self) -> f64 {
        let solved = solve(&self.spec()).unwrap_or_else(|fault| panic!("{fault}"));
        solved.partitions[1].dispatches
    }

    fn simulated(self) -> f64 {
        common::run(&self.spec(), 0).total("b", "evictions") / 5.0
    }
}

#[test]
fn nobody_is_thrown_off_while_cores_are_left() {
    let wide = Full { cores: 12, ..FULL };
    assert!(wide.solved() < 0.01 * FULL.solved(), "{}", wide.solved());
}

#[test]
fn the_more_come_within_their_share_the_more_are_thrown_off() {
    let mut before = 0.0;
    for rate in [125.0, 250.0, 500.0, 1_000.0] {
        let now = Full { rate, ..FULL }.solved();
        assert!(now > 1.2 * before, "{rate}: {now}, {before}");
        before = now;
    }
}

#[test]
fn they_are_thrown_off_about_as_often_as_in_a_run() {
    for (loops, rate) in [(4, 500.0), (4, 1_000.0), (8, 1_000.0)] {
        let one = Full {
            loops,
            rate,
            ..FULL
        };
        let (solved, simulated) = (one.solved(), one.simulated());
        let apart = solved / simulated - 1.0;
        assert!(apart.abs() < 0.3, "{one:?}: {solved}, in a run {simulated}");
    }
}
