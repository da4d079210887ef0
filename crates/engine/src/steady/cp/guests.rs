//! z/VM's virtual machines as the solver sees them: those that are alike are one kind.

use crate::devices::memory::missing_share;
use crate::devices::Switch;
use crate::guest::zvm::share;
use crate::spec::{Distribution, Partition, Role, VirtualMachine, Workload, Zvm};
use crate::steady::cp::pairs::Pairs;
use crate::steady::fault::SolveFault;
use crate::steady::queues::demand::{Arrivals, Demand};

/// Logical cores of most threads that z/VM uses.
const MOST_THREADS: u8 = 2;
/// Rates of machines that are one kind lie no further apart.
const ALIKE: f64 = 0.05;
/// Instructions for which something that never ends is looked at [1].
const ENDLESS: f64 = 1e9;

/// Machines that are alike.
#[derive(Clone, Debug)]
pub(in crate::steady) struct Kind {
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
    /// CPU pool that limits it with others.
    pub pool: Option<usize>,
    /// Whether its work was recorded.
    pub recorded: bool,
    /// Frames that answer a transaction, and on which switch.
    pub sends: Option<(usize, f64)>,
}

/// Clients and servers on a switch, each client connected with each server.
#[derive(Clone, Debug)]
pub(in crate::steady) struct Tile {
    pub switch: usize,
    pub connections: f64,
    /// Virtual processors of servers and of clients.
    pub cpus: [f64; 2],
    /// Instructions of the guest for a transaction, at a server and at a client.
    pub instructions: [f64; 2],
    /// Frames that each of them sends for it, and messages that each takes.
    pub frames: [f64; 2],
    pub messages: [f64; 2],
    /// Share of those that a guest hands to another of its virtual processors.
    pub signal_shares: [f64; 2],
    /// Coefficient of variation of the instructions, squared.
    pub spread: f64,
    pub think_ns: f64,
}

/// What runs under z/VM in a partition.
#[derive(Clone, Debug)]
pub(in crate::steady) struct Guests {
    pub zvm: Zvm,
    pub kinds: Vec<Kind>,
    pub tiles: Vec<Tile>,
    /// Switches with what is coupled to each.
    pub switches: Vec<Switch>,
    /// Threads of a logical core.
    pub smt: f64,
    /// Logical cores that it has, and those of them that are unparked.
    pub online: u16,
    pub open: u16,
    /// Virtual processors that ever work.
    working: f64,
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
        let switches = switches(zvm);
        for kind in each(zvm, &switches) {
            match kinds.iter_mut().find(|of| of.is_like(&kind)) {
                Some(of) => of.join(&kind),
                None => kinds.push(kind),
            }
        }
        let online = one.processors.count();
        Ok(Some(Self {
            tiles: tiles(one, zvm, &switches),
            switches,
            zvm: zvm.clone(),
            kinds,
            smt: f64::from(one.smt),
            online,
            open: online,
            working: working(zvm),
        }))
    }

    /// Most that the members of each CPU pool may have of so many processors.
    pub fn pools(&self, there: f64) -> Vec<f64> {
        let part = |cores: f64| there * cores / f64::from(self.open);
        self.zvm.cpu_pools.iter().map(|of| part(of.cores)).collect()
    }

    /// Unparked logical processors.
    pub fn lps(&self) -> f64 {
        f64::from(self.open) * self.smt
    }

    /// Cores with both threads at work, where so many logical processors are on the mean.
    pub fn pairs(&self, busy: f64) -> Pairs {
        if self.smt < 2.0 {
            return Pairs::default();
        }
        Pairs::of(f64::from(self.open), self.working, busy)
    }

    /// All of it, as one demand: mean instructions of what comes.
    pub fn demand(&self) -> Demand {
        if !self.tiles.is_empty() {
            return self.between_machines();
        }
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
            daemon_work: 0.0,
            scattered: false,
            alike: None,
            phases: None,
            asks_devices: false,
            recorded: worked.any(|kind| kind.recorded),
        }
    }
}

impl Guests {
    /// Transactions of clients and servers, as one demand.
    fn between_machines(&self) -> Demand {
        let all: f64 = self.tiles.iter().map(|tile| tile.connections).sum();
        let work = |tile: &Tile| tile.connections * tile.instructions.iter().sum::<f64>();
        Demand {
            arrivals: Arrivals::Closed(all, self.tiles[0].think_ns),
            burst: self.tiles.iter().map(work).sum::<f64>() / all,
            bursts: 1.0,
            wait_ns: 0.0,
            daemons_per_ns: 0.0,
            daemon_work: 0.0,
            scattered: false,
            alike: None,
            phases: None,
            asks_devices: false,
            recorded: false,
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
                of.pool,
                of.recorded,
                of.sends,
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
    let web = matches!(one.workload, Workload::Web { .. });
    let works = |of: &VirtualMachine| matches!(of.role, Role::Work | Role::Loop);
    let limits = |of: &VirtualMachine| of.maximum.is_some() || of.cpu_pool.is_some();
    if pages(one, zvm) {
        Some("paging of z/VM".into())
    } else if zvm.daemon_rate_per_s > 0.0 && zvm.daemon_ns > 0 {
        Some("work of virtual machines' daemons".into())
    } else if zvm.machines.iter().any(in_bursts) {
        Some("transactions of virtual machines in bursts".into())
    } else if web && zvm.machines.iter().any(works) {
        Some("machines with work of their own beside clients and servers".into())
    } else if web && zvm.machines.iter().any(limits) {
        Some("a limit or CPU pool of a client or server".into())
    } else if one.smt > 1 && !zvm.cpu_pools.is_empty() {
        Some("CPU pools of z/VM with two threads a core".into())
    } else if one.smt > MOST_THREADS {
        Some("z/VM with more than two threads a core".into())
    } else {
        None
    }
}

fn in_bursts(machine: &VirtualMachine) -> bool {
    machine.work.as_ref().is_some_and(|work| work.bursts > 1.0)
}

/// Virtual processors that ever work.
fn working(zvm: &Zvm) -> f64 {
    let works = |of: &&VirtualMachine| {
        let serves = matches!(of.role, Role::Client | Role::Server);
        serves || comes(of).is_some()
    };
    let all = zvm.machines.iter().filter(works);
    all.map(|of| f64::from(of.cpus)).sum()
}

/// Those that ever do something, one by one.
fn each<'a>(zvm: &'a Zvm, switches: &'a [Switch]) -> impl Iterator<Item = Kind> + 'a {
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
                pool: machine.cpu_pool.map(usize::from),
                sends: sends(machine, switches),
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
    (!matches!(coming, Arrivals::Open(rate) if rate <= 0.0)).then_some((
        coming,
        work.instructions,
        spread(work.work),
    ))
}

fn spread(work: Distribution) -> f64 {
    match work {
        Distribution::Constant => 0.0,
        Distribution::Exponential => 1.0,
    }
}

/// Frames of an answer.
fn sends(machine: &VirtualMachine, switches: &[Switch]) -> Option<(usize, f64)> {
    let switch = usize::from(machine.switch?);
    let bytes = machine.work.as_ref()?.answer_bytes;
    (bytes > 0).then(|| (switch, switches[switch].frames_of(bytes) as f64))
}

/// Whether guests are larger than what central memory holds of them.
fn pages(one: &Partition, zvm: &Zvm) -> bool {
    let guests: u64 = zvm.machines.iter().map(|of| of.memory_bytes).sum();
    let central: u64 = one.memory.iter().map(|part| part.bytes).sum();
    let paging = zvm.paging.as_ref();
    paging.is_some_and(|of| missing_share(guests, central, of.guest_frames) > 0.0)
}

fn switches(zvm: &Zvm) -> Vec<Switch> {
    let on = |at: usize| {
        let machines = zvm.machines.iter();
        machines
            .filter(|of| of.switch.map(usize::from) == Some(at))
            .count() as u32
    };
    let all = zvm.switches.iter().enumerate();
    all.map(|(at, switch)| Switch::new(switch, on(at)))
        .collect()
}

fn tiles(one: &Partition, zvm: &Zvm, switches: &[Switch]) -> Vec<Tile> {
    let Workload::Web {
        client_share,
        think_ns,
        work,
        ..
    } = one.workload
    else {
        return Vec::new();
    };
    let mean = one.profile.instructions_per_unit;
    let thinks = if think_ns > 0 { 1.0 } else { 0.0 };
    let tile = |(switch, of): (usize, &Switch)| {
        let there = |role| {
            let machines = zvm.machines.iter();
            let there =
                machines.filter(|m| m.role == role && m.switch.map(usize::from) == Some(switch));
            there.fold((0.0, 0.0), |(count, cpus), m| {
                (count + 1.0, cpus + f64::from(m.cpus))
            })
        };
        let ((servers, of_servers), (clients, of_clients)) =
            (there(Role::Server), there(Role::Client));
        let sent = of
            .parcels(&one.workload)
            .map(|parcel| parcel.frames() as f64);
        Tile {
            switch,
            connections: servers * clients,
            cpus: [of_servers, of_clients],
            instructions: [mean * (1.0 - client_share), mean * client_share],
            frames: [sent[0], sent[1] + thinks * sent[2]],
            messages: [1.0, 1.0 + thinks],
            signal_shares: [(servers, of_servers), (clients, of_clients)]
                .map(|(machines, cpus)| (1.0 - machines / cpus).max(0.0)),
            spread: spread(work),
            think_ns: think_ns as f64,
        }
    };
    let all = switches.iter().enumerate().map(tile);
    all.filter(|tile| tile.connections > 0.0).collect()
}
