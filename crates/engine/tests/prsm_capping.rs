//! PR/SM: initial capping beside other limits, against exact water-filling by weight.

mod common;

use common::*;
use homenode_engine::hypervisor::policies::by_weight;
use homenode_engine::spec::{
    Group, LogicalCores, Machine, Partition, Polarization, Policy, Processors, Spec, Workload,
};

const CORES: u16 = 12;

/// A partition, and in which of its logical cores a loop runs.
#[derive(Clone, Copy)]
struct Lpar {
    weight: u16,
    cores: u16,
    busy: bool,
    capped: bool,
    group: Option<u16>,
    cap: Option<f64>,
    polarization: Polarization,
}

const fn busy(weight: u16, cores: u16) -> Lpar {
    Lpar {
        weight,
        cores,
        busy: true,
        capped: false,
        group: None,
        cap: None,
        polarization: Polarization::Horizontal,
    }
}

const fn capped(weight: u16, cores: u16) -> Lpar {
    Lpar {
        capped: true,
        ..busy(weight, cores)
    }
}

impl Lpar {
    const fn idle(self) -> Self {
        Self {
            busy: false,
            ..self
        }
    }

    const fn of(self, group: u16) -> Self {
        Self {
            group: Some(group),
            ..self
        }
    }

    const fn below(self, cap: f64) -> Self {
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
            true => loops(u32::from(self.cores)),
            false => Workload::Idle,
        };
        partition(&name, processors, work)
    }

    /// The most it can use, groups apart, where it is entitled to so much [cores].
    fn most(self, entitled: f64) -> f64 {
        let all = if self.busy {
            f64::from(self.cores)
        } else {
            0.0
        };
        let weight = if self.capped { entitled } else { f64::INFINITY };
        all.min(weight).min(self.cap.unwrap_or(f64::INFINITY))
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
fn used(lpars: &[Lpar], groups: &[f64]) -> Vec<f64> {
    let spec = frame(lpars, groups);
    let outcome = run(&spec, 0);
    assert_all(&spec, &outcome);
    let busy = |at: usize| outcome.total(&format!("p{at}"), "busy_ns");
    let cores = (0..lpars.len()).map(|at| busy(at) / spec.duration_ns as f64);
    cores.collect()
}

/// All rise by their weights until they, their groups or the cores are full.
fn filled(lpars: &[Lpar], groups: &[f64]) -> Vec<f64> {
    let weights: f64 = lpars.iter().map(|of| f64::from(of.weight)).sum();
    let by_weight = |of: &Lpar| f64::from(CORES) * f64::from(of.weight) / weights;
    let entitled = |of: &Lpar| by_weight(of).min(f64::from(of.cores));
    let most: Vec<f64> = lpars.iter().map(|of| of.most(entitled(of))).collect();
    let mut has = vec![0.0; lpars.len()];
    let step = 1e-6;
    loop {
        let full = |group: usize, has: &[f64]| {
            let of = lpars.iter().zip(has);
            let of = of.filter(|(of, _)| of.group == Some(group as u16));
            of.map(|(_, has)| has).sum::<f64>() >= groups[group]
        };
        let may_rise = |at: &usize| {
            let group = lpars[*at].group.map(usize::from);
            has[*at] < most[*at] && !group.is_some_and(|group| full(group, &has))
        };
        let rising: Vec<usize> = (0..lpars.len()).filter(may_rise).collect();
        if rising.is_empty() || has.iter().sum::<f64>() >= f64::from(CORES) {
            return has;
        }
        for at in rising {
            has[at] += step * f64::from(lpars[at].weight);
        }
    }
}

fn as_filled(what: &str, lpars: &[Lpar], groups: &[f64]) {
    let (got, wanted) = (used(lpars, groups), filled(lpars, groups));
    for (got_one, wanted_one) in got.iter().zip(&wanted) {
        let near = (got_one - wanted_one).abs() <= 0.02 * wanted_one + 1e-3;
        assert!(near, "{what}: {got:?}, not {wanted:?}");
    }
}

#[test]
fn initial_capping_is_a_cap_at_the_weight_and_a_group_lends_up_to_it() {
    let idle = capped(500, 12).idle().of(0);
    for cores in [4, 12] {
        for group in [1.2, 1.8, 2.4, 3.6, 8.0, 12.0] {
            let what = format!("{cores} cores in {group}");
            as_filled(&what, &[idle, capped(100, cores).of(0)], &[group]);
        }
    }
    for (idle, busy) in [(900, 100), (300, 300), (100, 500)] {
        let pair = [capped(idle, 12).idle().of(0), capped(busy, 12).of(0)];
        as_filled(&format!("{idle} {busy}"), &pair, &[3.6]);
    }
}

#[test]
fn members_with_work_keep_their_part_of_the_group() {
    let one = capped(100, 12).of(0);
    for other in [capped(500, 12), busy(500, 12), busy(500, 2), busy(500, 1)] {
        as_filled("two", &[other.of(0), one], &[3.6]);
    }
    let idle = capped(400, 12).idle().of(0);
    for group in [1.5, 3.0, 5.0, 7.0] {
        let what = format!("three in {group}");
        as_filled(&what, &[idle, one, busy(100, 12).of(0)], &[group]);
        as_filled(&what, &[idle, one, capped(200, 12).of(0)], &[group]);
    }
}

#[test]
fn several_groups_and_absolute_caps_beside() {
    let idle = capped(500, 12).idle();
    let pairs = [
        idle.of(0),
        capped(100, 12).of(0),
        busy(500, 12).idle().of(1),
        capped(100, 12).of(1),
    ];
    as_filled("two groups", &pairs, &[3.6, 0.8]);
    for cap in [0.3, 1.0, 1.7, 3.0] {
        let pair = [idle.of(0), capped(100, 12).of(0).below(cap)];
        as_filled(&format!("below {cap}"), &pair, &[3.6]);
    }
    let outside = [idle.of(0), capped(100, 12).of(0), busy(600, 12)];
    as_filled("beside others", &outside, &[3.6]);
}

#[test]
fn in_vertical_polarization_as_well() {
    let vertical = |of: Lpar| Lpar {
        polarization: Polarization::Vertical,
        ..of
    };
    for group in [1.8, 3.6] {
        let pair = [capped(400, 12).idle().of(0), capped(200, 4).of(0)];
        as_filled("vertical", &pair.map(vertical), &[group]);
    }
}

/// A logical core has its part of the weight, whatever its siblings do with theirs.
#[test]
fn one_busy_logical_core_has_its_own_share_and_no_siblings() {
    let mut spec = frame(&[capped(100, 4).of(0), busy(500, 12).idle().of(0)], &[3.6]);
    spec.partitions[0].workload = loops(1);
    let outcome = run(&spec, 0);
    let got = outcome.total("p0", "busy_ns") / spec.duration_ns as f64;
    assert!((got - 0.5).abs() < 0.01, "{got}");
}
