//! z/VM's virtual machines as the solver sees them: those that are alike are one kind.

use super::demand::{Arrivals, Demand};
use super::fault::SolveFault;
use crate::guest::zvm::share;
use crate::spec::{Distribution, Partition, Role, VirtualMachine, Workload, Zvm};

/// Logical cores of most threads that z/VM uses.
const MOST_THREADS: u8 = 2;
/// Rates of machines that are one kind lie no further apart.
const ALIKE: f64 = 0.05;
/// Instructions for which something that never ends is looked at [1].
const ENDLESS: f64 = 1e9;

/// Machines that are alike.
#[derive(Clone, Debug)]
pub(super) struct Kind {
    pub count: u32,
    pub cpus: u32,
    pub coming: Arrivals,
    /// Mean instructions of a transaction, and their coefficient of variation, squared.
    pub instructions: f64,
    pub spread: f64,
    /// What each one's share is worth, as a part of all processors.
    pub share: f64,
    /// Most that it may have, as a part of all processors; whether that always holds.
    pub limit: f64,
    pub hard: bool,
    /// Whether its work was recorded.
    pub recorded: bool,
}

/// What runs under z/VM in a partition.
#[derive(Clone, Debug)]
pub(super) struct Guests {
    pub zvm: Zvm,
    pub kinds: Vec<Kind>,
    /// Threads of a logical core.
    pub smt: f64,
    /// Logical cores that it has, and those of them that are unparked.
    pub online: u16,
    pub open: u16,
}

impl Guests {
    /// Of a partition; none where it runs no z/VM.
    pub fn of(one: &Partition) -> Result<Option<Self>, SolveFault> {
        let Some(zvm) = one.guest.zvm() else {
            return Ok(None);
        };
        if let Some(what) = unknown(one, zvm) {
            let partition = one.name.clone();
            return Err(SolveFault::Unknown { partition, what });
        }
        let mut kinds: Vec<Kind> = Vec::new();
        for kind in each(zvm) {
            match kinds.iter_mut().find(|of| of.is_like(&kind)) {
                Some(of) => of.join(&kind),
                None => kinds.push(kind),
            }
        }
        let online = one.processors.count();
        Ok(Some(Self {
            zvm: zvm.clone(),
            kinds,
            smt: f64::from(one.smt),
            online,
            open: online,
        }))
    }

    /// Unparked logical processors.
    pub fn lps(&self) -> f64 {
        f64::from(self.open) * self.smt
    }

    /// All of it, as one demand: mean instructions of what comes.
    pub fn demand(&self) -> Demand {
        let with = |kind: &&Kind| matches!(kind.coming, Arrivals::Open(_) | Arrivals::Closed(..));
        let rate = |kind: &Kind| f64::from(kind.count) * kind.at_most();
        let all: f64 = self.kinds.iter().filter(with).map(rate).sum();
        let work = |kind: &Kind| rate(kind) * kind.instructions;
        let done: f64 = self.kinds.iter().filter(with).map(work).sum();
        let mut worked = self.kinds.iter().filter(with);
        Demand {
            arrivals: if all > 0.0 {
                Arrivals::Open(all)
            } else {
                Arrivals::Always(1.0, 1.0)
            },
            burst: if all > 0.0 { done / all } else { ENDLESS },
            bursts: 1.0,
            wait_ns: 0.0,
            daemons_per_ns: 0.0,
            daemon_ns: 0.0,
            recorded: worked.any(|kind| kind.recorded),
        }
    }
}

impl Kind {
    /// What comes to one in a nanosecond while nobody waits.
    fn at_most(&self) -> f64 {
        match self.coming {
            Arrivals::Open(per_ns) => per_ns,
            Arrivals::Closed(users, away_ns) => users / away_ns,
            Arrivals::Always(..) | Arrivals::Never => 0.0,
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        let close = |a: f64, b: f64| (a - b).abs() <= ALIKE * a.abs();
        let coming = match (self.coming, other.coming) {
            (Arrivals::Open(a), Arrivals::Open(b)) => close(a, b),
            (a, b) => a == b,
        };
        let told = |of: &Self| {
            (
                of.cpus,
                of.instructions,
                of.spread,
                of.share,
                of.limit,
                of.hard,
                of.recorded,
            )
        };
        coming && told(self) == told(other)
    }

    /// One more like it: rates become their mean.
    fn join(&mut self, other: &Self) {
        if let (Arrivals::Open(mean), Arrivals::Open(own)) = (&mut self.coming, other.coming) {
            *mean += (own - *mean) / f64::from(self.count + 1);
        }
        self.count += 1;
    }
}

/// What of a z/VM only events tell, in words.
fn unknown(one: &Partition, zvm: &Zvm) -> Option<String> {
    let answers = |of: &VirtualMachine| {
        let work = of.work.as_ref();
        of.switch.is_some() && work.is_some_and(|work| work.answer_bytes > 0)
    };
    if matches!(one.workload, Workload::Web { .. }) {
        Some("clients and servers on virtual switches".into())
    } else if zvm.machines.iter().any(answers) {
        Some("answers over a virtual switch".into())
    } else if one.smt > MOST_THREADS {
        Some("z/VM with more than two threads a core".into())
    } else {
        None
    }
}

/// Those that ever do something, one by one.
fn each(zvm: &Zvm) -> impl Iterator<Item = Kind> + '_ {
    let shares: Vec<_> = zvm.machines.iter().map(|machine| machine.share).collect();
    let worth = share::weights(&shares);
    zvm.machines
        .iter()
        .enumerate()
        .filter_map(move |(at, machine)| {
            let (coming, instructions, spread) = comes(machine)?;
            let most = machine.maximum;
            Some(Kind {
                count: 1,
                cpus: u32::from(machine.cpus),
                coming,
                instructions,
                spread,
                share: worth[at],
                limit: most.map_or(f64::INFINITY, |most| {
                    share::weight_beside(most, at, &shares)
                }),
                hard: machine.limit_hard,
                recorded: machine
                    .work
                    .as_ref()
                    .is_some_and(|work| work.played.is_some()),
            })
        })
}

/// What comes to a machine, how many instructions it is and how they vary.
fn comes(machine: &VirtualMachine) -> Option<(Arrivals, f64, f64)> {
    if machine.role == Role::Loop {
        let cpus = f64::from(machine.cpus);
        return Some((Arrivals::Always(cpus, 1.0), ENDLESS, 0.0));
    }
    let work = machine
        .work
        .as_ref()
        .filter(|_| machine.role == Role::Work)?;
    let coming = if let Some(played) = &work.played {
        let steps = || played.lengths_ns.iter().zip(&played.instructions_per_s);
        let all: f64 = steps().map(|(length, rate)| *length as f64 * rate).sum();
        let length: f64 = steps().map(|(length, _)| *length as f64).sum();
        Arrivals::Open(all / length * 1e-9 / work.instructions)
    } else if work.users > 0 {
        Arrivals::Closed(f64::from(work.users), work.think_ns as f64)
    } else {
        Arrivals::Open(work.rate_per_s * 1e-9)
    };
    let spread = match work.work {
        Distribution::Constant => 0.0,
        Distribution::Exponential => 1.0,
    };
    (!matches!(coming, Arrivals::Open(rate) if rate <= 0.0)).then_some((
        coming,
        work.instructions,
        spread,
    ))
}
