//! Partitions of a machine without overheads, what they use, and exact water-filling.

use homenode_engine::hypervisor::polarize;
use homenode_engine::hypervisor::policies::by_weight;
use homenode_engine::spec::{
    Group, LogicalCores, Machine, Partition, Polarization, Policy, Processors, Spec, Workload,
};

use crate::common::{assert_all, loops, machine, partition, run, spec, SECOND};

pub const CORES: u16 = 12;

/// A partition, and in how many of its logical cores a loop runs.
#[derive(Clone, Copy, Debug)]
pub struct Lpar {
    pub weight: u16,
    pub cores: u16,
    pub busy: u16,
    pub capped: bool,
    pub group: Option<u16>,
    pub cap: Option<f64>,
    pub polarization: Polarization,
}

pub const fn busy(weight: u16, cores: u16) -> Lpar {
    Lpar {
        weight,
        cores,
        busy: cores,
        capped: false,
        group: None,
        cap: None,
        polarization: Polarization::Horizontal,
    }
}

pub const fn capped(weight: u16, cores: u16) -> Lpar {
    Lpar {
        capped: true,
        ..busy(weight, cores)
    }
}

impl Lpar {
    pub const fn idle(self) -> Self {
        self.with(0)
    }

    pub const fn with(self, busy: u16) -> Self {
        Self { busy, ..self }
    }

    pub const fn of(self, group: u16) -> Self {
        Self {
            group: Some(group),
            ..self
        }
    }

    pub const fn below(self, cap: f64) -> Self {
        Self {
            cap: Some(cap),
            ..self
        }
    }

    fn partition(self, name: String) -> Partition {
        let processors = Processors::Shared {
            entitlement: 0.0,
            r#virtual: self.cores,
            capped: self.capped,
            weight: self.weight,
            pool: 0,
            soft_cap: false,
            prsm: LogicalCores {
                polarization: self.polarization,
                cap: self.cap,
                group: self.group,
                ..LogicalCores::default()
            },
            host: Box::default(),
        };
        let work = match self.busy {
            0 => Workload::Idle,
            some => loops(u32::from(some)),
        };
        partition(&name, processors, work)
    }

    /// The part of its slices that logical cores with work have, where it is entitled to so much.
    fn at_work(self, entitled: f64) -> f64 {
        if self.polarization == Polarization::Horizontal {
            return f64::from(self.busy) / f64::from(self.cores);
        }
        polarize(entitled, self.cores).of_first(f64::from(self.busy)) / entitled
    }

    /// The most it can use, groups apart, where it is entitled to so much [cores].
    fn most(self, entitled: f64) -> f64 {
        let weight = if self.capped {
            entitled * self.at_work(entitled)
        } else {
            f64::INFINITY
        };
        let own = self.cap.unwrap_or(f64::INFINITY);
        f64::from(self.busy).min(weight).min(own)
    }
}

/// A machine without overheads, in slices as long as PR/SM makes them.
fn z() -> Machine {
    let mut machine = machine(&format!("core:{CORES}"));
    machine.hypervisor.policy = Policy::Prsm;
    machine.hypervisor.window_ns = 12_500_000;
    machine.hypervisor.prsm.run_time_ns = Some(12_500_000);
    machine.hypervisor.counts_redispatch = false;
    machine
}

fn frame(lpars: &[Lpar], groups: &[f64]) -> Spec {
    let named = lpars.iter().enumerate();
    let all = named.map(|(at, of)| of.partition(format!("p{at}")));
    let mut spec = spec(z(), all.collect());
    spec.warmup_ns = SECOND / 2;
    let group = |(at, cap): (usize, &f64)| Group {
        name: format!("g{at}"),
        cap: *cap,
    };
    spec.groups = groups.iter().enumerate().map(group).collect();
    for (at, share) in by_weight(&spec).into_iter().enumerate() {
        if let Processors::Shared { entitlement, .. } = &mut spec.partitions[at].processors {
            *entitlement = share.expect("shared");
        }
    }
    spec
}

/// Cores that each used.
pub fn used(lpars: &[Lpar], groups: &[f64]) -> Vec<f64> {
    let spec = frame(lpars, groups);
    let outcome = run(&spec, 0);
    assert_all(&spec, &outcome);
    let busy = |at: usize| outcome.total(&format!("p{at}"), "busy_ns");
    let cores = (0..lpars.len()).map(|at| busy(at) / spec.duration_ns as f64);
    cores.collect()
}

/// What limits leave of each one's entitlement: its cap, and its group's, which is shared out by
/// weight [cores].
fn promised(lpars: &[Lpar], groups: &[f64], entitled: &[f64]) -> Vec<f64> {
    let most = |at: usize| entitled[at].min(lpars[at].cap.unwrap_or(f64::INFINITY));
    let mut all: Vec<f64> = (0..lpars.len()).map(most).collect();
    for (group, cap) in groups.iter().enumerate() {
        let of = |at: &usize| lpars[*at].group == Some(group as u16);
        let members: Vec<usize> = (0..lpars.len()).filter(of).collect();
        let none = vec![0.0; lpars.len()];
        let shared = rise(lpars, none, *cap, |has, at| {
            members.contains(&at) && has[at] < most(at)
        });
        members.into_iter().for_each(|at| all[at] = shared[at]);
    }
    all
}

/// All that may rise do so by their weights, until so many cores are full.
fn rise(
    lpars: &[Lpar],
    mut has: Vec<f64>,
    cores: f64,
    may: impl Fn(&[f64], usize) -> bool,
) -> Vec<f64> {
    let step = 1e-6;
    loop {
        let rising: Vec<usize> = (0..lpars.len()).filter(|at| may(&has, *at)).collect();
        if rising.is_empty() || has.iter().sum::<f64>() >= cores {
            return has;
        }
        for at in rising {
            has[at] += step * f64::from(lpars[at].weight);
        }
    }
}

/// Logical cores with work have their slices; of what the others leave all have more by their
/// weights until they, their groups or the cores are full.
pub fn filled(lpars: &[Lpar], groups: &[f64]) -> Vec<f64> {
    let weights: f64 = lpars.iter().map(|of| f64::from(of.weight)).sum();
    let by_weight = |of: &Lpar| f64::from(CORES) * f64::from(of.weight) / weights;
    let entitled = |of: &Lpar| by_weight(of).min(f64::from(of.cores));
    let entitled: Vec<f64> = lpars.iter().map(entitled).collect();
    let each = promised(lpars, groups, &entitled).into_iter().enumerate();
    let own = each.map(|(at, all)| all * lpars[at].at_work(entitled[at]));
    let full = |group: usize, has: &[f64]| {
        let of = lpars.iter().zip(has);
        let of = of.filter(|(of, _)| of.group == Some(group as u16));
        of.map(|(_, has)| has).sum::<f64>() >= groups[group]
    };
    rise(lpars, own.collect(), f64::from(CORES), |has, at| {
        let group = lpars[at].group.map(usize::from);
        has[at] < lpars[at].most(entitled[at]) && !group.is_some_and(|group| full(group, has))
    })
}

pub fn as_filled(what: &str, lpars: &[Lpar], groups: &[f64]) {
    as_filled_within(0.02, what, lpars, groups);
}

/// The same, with this part off at most.
pub fn as_filled_within(part: f64, what: &str, lpars: &[Lpar], groups: &[f64]) {
    let (got, wanted) = (used(lpars, groups), filled(lpars, groups));
    for (got_one, wanted_one) in got.iter().zip(&wanted) {
        let near = (got_one - wanted_one).abs() <= part * wanted_one + 1e-3;
        assert!(near, "{what}: {got:?}, not {wanted:?}");
    }
}
