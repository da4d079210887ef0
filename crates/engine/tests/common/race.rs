//! Competitors that compute without end on every thread they have: what each gets is what the
//! dispatcher's rules say, and nothing else.

use super::host::{cgroup, group, of_cgroup, threads};
use super::platform::Platform;
use super::zvm::{cp, endless, free_cp, zvm_partition};
use super::{dedicated, loops, machine, missing_profile, partition, spec, Outcome, SECOND};
use homenode_engine::hypervisor::policies::by_weight;
use homenode_engine::spec::{
    CpShare, HostThreads, LogicalCores, Machine, Partition, Polarization, Policy, Processors, Spec,
    VirtualMachine, Workload,
};

/// One that competes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Runner {
    /// Virtual processors, each with a loop; with cores of its own, that many of them.
    pub threads: u16,
    /// For all there is, or under PowerVM for what is beyond the entitlements.
    pub weight: u16,
    /// What PowerVM guarantees [cores].
    pub entitled: f64,
}

/// Competitors and what they compete for.
#[derive(Clone, Debug, PartialEq)]
pub struct Race {
    /// Whose rules.
    pub platform: Platform,
    /// Chips of one node.
    pub chips: u16,
    /// Cores of a chip.
    pub cores: u16,
    /// In order of their index.
    pub runners: Vec<Runner>,
    /// Whether vertical polarization is on, where there is such a thing.
    pub vertical: bool,
    /// Whether threads are bound, each to the next processor.
    pub bound: bool,
    /// Whether the work misses caches; else an instruction is a nanosecond.
    pub missing: bool,
    /// Of all chance.
    pub seed: u64,
}

/// A competitor of this weight and entitlement.
pub fn entitled(threads: u16, weight: u16, entitled: f64) -> Runner {
    Runner {
        entitled,
        ..runner(threads, weight)
    }
}

/// A competitor of this weight.
pub fn runner(threads: u16, weight: u16) -> Runner {
    Runner {
        threads,
        weight,
        entitled: 0.1 * f64::from(threads),
    }
}

impl Race {
    /// On one chip.
    pub fn on(platform: Platform, cores: u16, runners: Vec<Runner>) -> Self {
        Self {
            platform,
            chips: 1,
            cores,
            runners,
            vertical: true,
            bound: false,
            missing: false,
            seed: 1,
        }
    }

    /// Cores of the machine.
    pub fn capacity(&self) -> u16 {
        self.chips * self.cores
    }

    /// Ten seconds of it, after one in which threads spread.
    pub fn spec(&self) -> Spec {
        let mut machine = machine(&format!("chip:{} core:{}", self.chips, self.cores));
        machine.hypervisor.linux.switch_ns = 0;
        machine.hypervisor.credit2.switch_ns = 0;
        machine.hypervisor.policy = match self.platform {
            Platform::PowerVm => Policy::Phyp,
            Platform::PrSm => Policy::Prsm,
            Platform::Dedicated | Platform::Zvm => Policy::Dedicated,
            Platform::Linux => Policy::Linux,
            Platform::Credit2 => Policy::Credit2,
        };
        let mut spec = self.partitions(machine);
        if self.missing {
            let missing = |one: &mut Partition| one.profile = missing_profile(1e6);
            spec.partitions.iter_mut().for_each(missing);
        }
        spec.seed = self.seed;
        (spec.warmup_ns, spec.duration_ns) = (SECOND, 10 * SECOND);
        spec.interval_ns = SECOND;
        spec
    }

    fn partitions(&self, machine: Machine) -> Spec {
        if self.platform == Platform::Zvm {
            return spec(machine, vec![self.virtual_machines()]);
        }
        let mut first = 0;
        let all = self.runners.iter().enumerate().map(|(at, runner)| {
            let cores = first..first + runner.threads;
            first = cores.end;
            let work = loops(u32::from(runner.threads));
            let (name, own) = (format!("p{at}"), self.processors(at, runner, cores));
            match self.platform {
                Platform::Linux | Platform::Credit2 => group(&name, own, work),
                _ => partition(&name, own, work),
            }
        });
        let mut spec = spec(machine, all.collect());
        match self.platform {
            Platform::PrSm => {
                let hypervisor = &mut spec.machine.hypervisor;
                hypervisor.prsm.run_time_ns = Some(hypervisor.window_ns);
                entitle(&mut spec);
            }
            Platform::Linux => {
                let weights = self.runners.iter().enumerate();
                let made = weights.map(|(at, r)| cgroup(&format!("g{at}"), u32::from(r.weight)));
                spec.cgroups = made.collect();
            }
            _ => {}
        }
        spec
    }

    fn processors(&self, at: usize, runner: &Runner, cores: std::ops::Range<u16>) -> Processors {
        match self.platform {
            Platform::Dedicated => dedicated(cores, false),
            Platform::Linux => {
                let bound = if self.bound { runner.threads } else { 0 };
                let host = HostThreads {
                    pins: (0..bound).map(|at| vec![at % self.capacity()]).collect(),
                    ..of_cgroup(at as u16)
                };
                threads(runner.threads, 0, host)
            }
            Platform::Credit2 => threads(runner.threads, runner.weight, HostThreads::default()),
            _ => Processors::Shared {
                entitlement: runner.entitled,
                r#virtual: runner.threads,
                capped: false,
                weight: runner.weight,
                pool: 0,
                soft_cap: false,
                prsm: LogicalCores {
                    polarization: match (self.platform, self.vertical) {
                        (Platform::PrSm, true) => Polarization::Vertical,
                        _ => Polarization::Horizontal,
                    },
                    ..LogicalCores::default()
                },
                host: Box::default(),
            },
        }
    }

    fn virtual_machines(&self) -> Partition {
        let mut machines: Vec<VirtualMachine> = endless(self.runners.len() as u16);
        for (machine, runner) in machines.iter_mut().zip(&self.runners) {
            (machine.cpus, machine.share) = (runner.threads, CpShare::Relative(runner.weight));
        }
        let mut one = zvm_partition(self.capacity(), free_cp(machines, vec![]), Workload::Idle);
        cp(&mut one).vertical = self.vertical;
        one
    }

    /// What each got [cores].
    pub fn used(&self, outcome: &Outcome) -> Vec<f64> {
        let of = |at: usize| match self.platform {
            Platform::Zvm => outcome
                .virtual_machine
                .series("virtual_machine", at, "guest_ns"),
            _ => outcome.partition.series("partition", at, "busy_ns"),
        };
        let sum = |at| of(at).iter().sum::<i64>() as f64 / (10 * SECOND) as f64;
        (0..self.runners.len()).map(sum).collect()
    }

    /// What all got done [instructions].
    pub fn done(outcome: &Outcome) -> f64 {
        let at = outcome.partition.at("instructions");
        outcome.partition.rows().map(|row| row[at]).sum::<i64>() as f64
    }

    /// Whether shares are promised to the point. Linux moves whole threads, and only where
    /// processors are a sixth apart: `hosts/groups.rs` holds how near it comes. Credit of Xen is of
    /// a run queue; between two of them load is evened out, not what each has been given.
    pub fn promises_shares(&self) -> bool {
        match self.platform {
            Platform::Linux => self.bound,
            Platform::Credit2 => self.chips == 1,
            _ => true,
        }
    }

    /// What the rules promise each [cores]: nobody more than a core for each thread, the rest by
    /// weight. Xen's weight is of a virtual processor, PowerVM's of what is not entitled.
    pub fn wanted(&self) -> Vec<f64> {
        let capacity = f64::from(self.capacity());
        let of = |f: fn(&Runner) -> f64| self.runners.iter().map(f).collect::<Vec<f64>>();
        let (weights, most) = (of(|r| r.weight.into()), of(|r| r.threads.into()));
        match self.platform {
            Platform::Dedicated => most,
            Platform::PowerVm => {
                let entitled = of(|r| r.entitled);
                let left = capacity - entitled.iter().sum::<f64>();
                let more = of(|r| f64::from(r.threads) - r.entitled);
                let more = water_fill(left, &weights, &more);
                entitled
                    .iter()
                    .zip(more)
                    .map(|(e, more)| e + more)
                    .collect()
            }
            Platform::Credit2 => {
                let weights = of(|r| f64::from(r.weight) * f64::from(r.threads));
                water_fill(capacity, &weights, &most)
            }
            _ => water_fill(capacity, &weights, &most),
        }
    }
}

/// PR/SM's entitlements follow from the weights.
pub fn entitle(spec: &mut Spec) {
    for (at, share) in by_weight(spec).into_iter().enumerate() {
        if let (Processors::Shared { entitlement, .. }, Some(share)) =
            (&mut spec.partitions[at].processors, share)
        {
            *entitlement = share;
        }
    }
}

/// Shares `capacity` out in proportion to `weights`, nobody more than it demands; what is not
/// wanted goes to the others.
pub fn water_fill(capacity: f64, weights: &[f64], demands: &[f64]) -> Vec<f64> {
    let mut given = vec![0.0; weights.len()];
    let mut open: Vec<usize> = (0..weights.len()).filter(|at| weights[*at] > 0.0).collect();
    let mut left = capacity;
    loop {
        let level = left / open.iter().map(|at| weights[*at]).sum::<f64>();
        let full = |at: &usize| demands[*at] <= weights[*at] * level;
        let (full, short): (Vec<usize>, Vec<usize>) = open.iter().partition(|at| full(at));
        for at in &full {
            given[*at] = demands[*at];
            left -= demands[*at];
        }
        if full.is_empty() || short.is_empty() {
            short
                .iter()
                .for_each(|at| given[*at] = weights[*at] * level);
            return given;
        }
        open = short;
    }
}
