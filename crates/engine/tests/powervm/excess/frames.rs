//! Random frames in which everybody computes without end.

use homenode_engine::hypervisor::polarize;
use homenode_engine::kernel::Stream;
use homenode_engine::spec::{
    Group, Machine, Partition, Polarization, Policy, Pool, Processors, Spec, Workload,
};

use super::due::{Limit, Sharer};
use crate::common::race::entitle;
use crate::common::random::Dice;
use crate::common::{dedicated, loops, machine, partition, shared, spec, SECOND};

/// Excess quanta, all within the stated range [ns].
const QUANTA: [u64; 5] = [100_000, 300_000, 1_000_000, 5_000_000, 10_000_000];

/// What frames are like.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub policy: Policy,
    /// Whether partitions have fewer virtual processors than there are cores.
    pub few: bool,
    /// Several pools with maximum and reserve; groups with a cap.
    pub limits: bool,
    /// Dedicated partitions that donate.
    pub donors: bool,
    pub vertical: bool,
    /// Whether PR/SM caps some at their weight, as PowerVM always does.
    pub capping: bool,
}

/// A frame and what follows from its rules.
#[derive(Debug)]
pub struct Frame {
    pub spec: Spec,
    pub sharers: Vec<Sharer>,
    pub limits: Vec<Limit>,
    /// What there is for all of them [cores].
    pub cores: u16,
}

impl Kind {
    pub const POWERVM: Self = Self {
        policy: Policy::Phyp,
        few: false,
        limits: false,
        donors: false,
        vertical: false,
        capping: false,
    };
    pub const PRSM: Self = Self {
        policy: Policy::Prsm,
        few: true,
        ..Self::POWERVM
    };

    pub fn frame(self, seed: u64) -> Frame {
        let mut stream = Stream::new(seed, 0, "frames");
        let row: Vec<u16> = (0..200).map(|_| stream.below(65536) as u16).collect();
        let mut dice = Dice::new(&row);
        let cores = dice.between(2, 10);
        let own = if self.donors {
            dice.between(1, cores / 2)
        } else {
            0
        };
        let mut machine = machine(&format!("core:{cores}"));
        machine.hypervisor.excess_quantum_ns = dice.pick(&QUANTA);
        machine.hypervisor.policy = self.policy;
        let all = self.sharers(&mut dice, cores - own);
        let mut limits = self.limits(&mut dice, cores - own, &all);
        let mut frame = self.of(machine, all, vec![]);
        let (spec, all) = (&mut frame.spec, &mut frame.sharers);
        if own > 0 {
            let busy = dice.between(0, own);
            frame.cores = cores - busy;
            let work = if busy == 0 {
                Workload::Idle
            } else {
                loops(busy.into())
            };
            let donor = partition("own", dedicated(cores - own..cores, true), work);
            spec.partitions.push(donor);
        }
        if self.policy == Policy::Prsm {
            spec.machine.hypervisor.prsm.run_time_ns = Some(spec.machine.hypervisor.window_ns);
            entitle(spec);
            let mut of_group = 0.0;
            for (one, of) in all.iter_mut().zip(&spec.partitions) {
                one.entitled = self.entitled(one, of);
                of_group += if one.pool > 0 { entitlement(of) } else { 0.0 };
            }
            for limit in limits.iter_mut().skip(1) {
                let some = f64::from(cores) - of_group;
                limit.maximum = Some(of_group + dice.real(0.1, 1.0) * some);
            }
        }
        self.limit(spec, &limits);
        Frame { limits, ..frame }
    }

    /// These partitions on a machine, under these limits.
    pub fn of(self, machine: Machine, sharers: Vec<Sharer>, limits: Vec<Limit>) -> Frame {
        let (each, cores) = (sharers.iter().enumerate(), machine.active_cores);
        let partitions = each.map(|(at, one)| one.partition(at, self)).collect();
        let mut spec = spec(machine, partitions);
        (spec.warmup_ns, spec.duration_ns) = (SECOND, 10 * SECOND);
        spec.interval_ns = SECOND;
        self.limit(&mut spec, &limits);
        Frame {
            spec,
            sharers,
            limits,
            cores,
        }
    }

    fn sharers(self, dice: &mut Dice, cores: u16) -> Vec<Sharer> {
        let (count, pools) = (dice.between(2, 6), if self.limits { 2 } else { 1 });
        let share = dice.real(0.2, 0.95) * f64::from(cores) / f64::from(count);
        let prsm = self.policy == Policy::Prsm;
        let one = |at: u16| {
            let (least, most) = if self.few {
                (1, cores)
            } else {
                (cores, 2 * cores)
            };
            let vps = dice.between(least, most);
            let some = dice.chance(3);
            let busy = if some { dice.between(1, vps) } else { vps };
            let entitled = dice.real(0.2, 1.0) * share;
            Sharer {
                vps,
                busy,
                entitled: entitled.clamp(0.01, f64::from(vps)),
                weight: dice.between(u16::from(prsm), 255),
                capped: dice.chance(4) && (self.capping || !prsm),
                pool: usize::from(at % pools),
            }
        };
        (0..count).map(one).collect()
    }

    /// The first pool has no limits.
    fn limits(self, dice: &mut Dice, cores: u16, all: &[Sharer]) -> Vec<Limit> {
        let mut limits = vec![Limit {
            maximum: None,
            reserved: 0.0,
        }];
        if self.limits {
            let entitled = |pool| {
                let those = all.iter().filter(|one| one.pool == pool);
                those.map(|one| one.entitled).sum::<f64>()
            };
            let spare = f64::from(cores) - entitled(0) - entitled(1);
            let prsm = self.policy == Policy::Prsm;
            let reserved = if prsm {
                0.0
            } else {
                dice.real(0.0, 0.4) * spare
            };
            let maximum = entitled(1) + reserved + dice.real(0.1, 1.0) * (spare - reserved);
            let maximum = Some(maximum);
            limits.push(Limit { maximum, reserved });
        }
        limits
    }

    fn limit(self, spec: &mut Spec, limits: &[Limit]) {
        let each = limits.iter().enumerate();
        if self.policy == Policy::Prsm {
            let group = |(at, limit): (usize, &Limit)| {
                let (name, cap) = (format!("g{at}"), limit.maximum?);
                Some(Group { name, cap })
            };
            spec.groups = each.filter_map(group).collect();
            return;
        }
        let pool = |(at, limit): (usize, &Limit)| Pool {
            name: format!("q{at}"),
            maximum: limit.maximum,
            reserved: limit.reserved,
            cores: None,
        };
        spec.pools = each.map(pool).collect();
    }

    /// What PR/SM gives logical cores that have work, as their own [cores].
    fn entitled(self, one: &Sharer, of: &Partition) -> f64 {
        if self.vertical {
            let split = polarize(entitlement(of), one.vps);
            return (0..one.busy).map(|at| split.share(at)).sum();
        }
        entitlement(of) * f64::from(one.busy) / f64::from(one.vps)
    }
}

fn entitlement(of: &Partition) -> f64 {
    match of.processors {
        Processors::Shared { entitlement, .. } => entitlement,
        Processors::Dedicated { .. } => 0.0,
    }
}

impl Sharer {
    fn partition(&self, at: usize, kind: Kind) -> Partition {
        let mut own = shared(self.entitled, self.vps);
        if let Processors::Shared {
            capped,
            pool,
            prsm,
            weight,
            ..
        } = &mut own
        {
            (*capped, *weight) = (self.capped, self.weight);
            if kind.policy == Policy::Prsm {
                prsm.group = (self.pool > 0).then_some(0);
                prsm.polarization = match kind.vertical {
                    true => Polarization::Vertical,
                    false => Polarization::Horizontal,
                };
            } else {
                *pool = self.pool as u16;
            }
        }
        partition(&format!("p{at}"), own, loops(self.busy.into()))
    }
}
