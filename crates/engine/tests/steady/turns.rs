//! Solved waits for turns beside loops that leave no processor over: which way they go, and how far
//! they are from those of a run.

use crate::common;
use crate::common::host::{cgroup, group, host_machine, of_cgroup, threads};
use crate::common::{loops, machine, partition, shared, spec, transactions, MS, SECOND};
use homenode_engine::spec::{Distribution, Partition, Policy, Processors, Spec};
use homenode_engine::steady::solve;

/// Bursts of work beside loops.
#[derive(Clone, Copy, Debug)]
struct Beside {
    policy: Policy,
    cores: u16,
    loops: u16,
    vps: u16,
    /// Of the work, where the loops have 100 together.
    weight: u16,
    /// Cores of the work and of the loops, where these count.
    entitled: [f64; 2],
    /// Share of a core that the work takes, and its mean burst [ms].
    load: f64,
    burst_ms: f64,
}

const LINUX: Beside = Beside {
    policy: Policy::Linux,
    cores: 2,
    loops: 2,
    vps: 1,
    weight: 100,
    entitled: [0.0, 0.0],
    load: 0.2,
    burst_ms: 1.0,
};

const POWER: Beside = Beside {
    policy: Policy::Phyp,
    entitled: [0.4, 1.0],
    ..LINUX
};

const Z: Beside = Beside {
    policy: Policy::Prsm,
    cores: 1,
    loops: 1,
    burst_ms: 10.0,
    ..LINUX
};

impl Beside {
    fn spec(self) -> Spec {
        let rate = self.load / self.burst_ms * 1e3;
        let work = transactions(rate, Distribution::Exponential);
        let endless = loops(self.loops.into());
        let mut made = if self.policy == Policy::Linux {
            let of =
                |name: &str, at, count, work| group(name, threads(count, 100, of_cgroup(at)), work);
            let partitions = vec![
                of("web", 0, self.vps, work),
                of("batch", 1, self.loops, endless),
            ];
            let machine = host_machine(self.policy, &format!("core:{}", self.cores));
            let groups = vec![cgroup("web", self.weight.into()), cgroup("batch", 100)];
            common::host::host_spec(machine, groups, partitions)
        } else {
            let of = |name: &str, at: usize, count, work, weight| {
                let mut one = partition(name, shared(self.entitled[at], count), work);
                weigh(&mut one, weight);
                one
            };
            let mut machine = machine(&format!("core:{}", self.cores));
            machine.hypervisor.policy = self.policy;
            let web = of("web", 0, self.vps, work, self.weight);
            spec(machine, vec![web, of("batch", 1, self.loops, endless, 100)])
        };
        made.partitions[0].profile.instructions_per_unit = self.burst_ms * 1e6;
        (made.warmup_ns, made.duration_ns) = (SECOND, 40 * SECOND);
        made.interval_ns = 10 * MS;
        made
    }

    /// Mean response [ms], and cores.
    fn solved(self) -> [f64; 2] {
        let solved = solve(&self.spec()).unwrap_or_else(|fault| panic!("{self:?}: {fault}"));
        let web = &solved.partitions[0];
        [web.response_ns.expect("it is steady") * 1e-6, web.cores]
    }

    fn simulated(self) -> f64 {
        common::run(&self.spec(), 0).of("web").response.mean * 1e-6
    }

    /// Solved within such a part of what is simulated.
    fn is_near(self, within: f64) {
        let ([solved, cores], simulated) = (self.solved(), self.simulated());
        assert!(
            (solved / simulated - 1.0).abs() < within,
            "{self:?}: solved {solved} ms, simulated {simulated} ms"
        );
        // What it gets is what it asks for.
        assert!((cores - self.load).abs() < 0.02, "{self:?}: {cores} cores");
    }
}

fn weigh(one: &mut Partition, of: u16) {
    if let Processors::Shared { weight, .. } = &mut one.processors {
        *weight = of;
    }
}

/// The responses of several, which are to grow.
fn grows(cases: impl IntoIterator<Item = Beside>) {
    let cases: Vec<Beside> = cases.into_iter().collect();
    let found: Vec<f64> = cases.iter().map(|of| of.solved()[0]).collect();
    assert!(
        found.windows(2).all(|two| two[0] < two[1]),
        "{cases:?}: {found:?}"
    );
}

#[test]
fn a_response_grows_with_the_load_and_falls_with_the_weight() {
    for base in [LINUX, POWER] {
        grows([0.05, 0.1, 0.2, 0.3].map(|load| Beside { load, ..base }));
        let long = Beside {
            burst_ms: 8.0,
            ..base
        };
        grows([200, 150, 100, 50].map(|weight| Beside { weight, ..long }));
    }
}

#[test]
fn it_grows_with_what_the_others_are_due() {
    // Linux: threads of the same group weigh by their number.
    let same = |count: u16| {
        let mut made = Beside {
            loops: count,
            ..LINUX
        }
        .spec();
        made.partitions[1].processors = threads(count, 100, of_cgroup(0));
        let solved = solve(&made).unwrap_or_else(|fault| panic!("{fault}"));
        solved.partitions[0].response_ns.expect("it is steady")
    };
    let found = [2, 4, 6].map(same);
    assert!(found.windows(2).all(|two| two[0] < two[1]), "{found:?}");
    // PowerVM: nobody is thrown off while the loops have what they are entitled to.
    grows([0.2, 0.6, 1.0, 1.4].map(|of| Beside {
        entitled: [0.4, of],
        ..POWER
    }));
}

#[test]
fn with_a_processor_left_over_nobody_waits() {
    for base in [LINUX, POWER] {
        let few = Beside { loops: 1, ..base };
        let [response, _] = few.solved();
        let alone = few.burst_ms / (1.0 - few.load);
        assert!(
            (response / alone - 1.0).abs() < 0.02,
            "{few:?}: {response} {alone}"
        );
    }
}

#[test]
fn they_are_near_those_of_a_run() {
    for (burst_ms, load) in [(0.5, 0.1), (1.0, 0.2), (5.0, 0.2), (20.0, 0.1)] {
        let of = |base: Beside| Beside {
            burst_ms,
            load,
            ..base
        };
        of(LINUX).is_near(0.25);
        of(Beside {
            weight: 50,
            ..LINUX
        })
        .is_near(0.3);
        of(POWER).is_near(0.25);
        of(Beside { loops: 6, ..POWER }).is_near(0.3);
    }
    Z.is_near(0.25);
}
