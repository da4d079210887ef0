//! What devices cost a partition: their interrupts, and threads of a host that do its input and
//! output.

use crate::cost::core_per_ns;
use crate::guest::workload::Shape;
use crate::ids::MemoryId;
use crate::spec::{Interrupts, IoThreads, Partition, Spec};
use crate::steady::queues::chain::Load;
use crate::steady::queues::demand::{Arrivals, Demand};

/// Share of the time of a processor, or a thread, that devices can have of it, and up to which what
/// is queued for it is told. Who waits until there is room for him keeps it busy nearly all of the
/// time; and what comes from outside would have to go on for long for a mean to come about: some
/// `2 / (1 - share)^2` services, which of 10 us are 0.2 s at 0.99, and 20 s at 0.999.
pub(in crate::steady) const NEARLY_ALL: f64 = 0.99;
/// Answers in a nanosecond that are as good as none.
const NONE: f64 = 1e-15;

/// What a partition's devices cost.
#[derive(Clone, Debug)]
pub(in crate::steady) struct Handling {
    /// The interrupt and what follows, or both at once.
    pub parts: Vec<Part>,
    /// Memory domain of what the device has written; none = beside each processor.
    pub domain: Option<MemoryId>,
    /// Interrupts in a nanosecond that nobody waits for.
    pub rate_per_ns: f64,
    polls: bool,
    /// For how long a device waits for more [ns], and for how many at most.
    coalesces: (f64, f64),
}

/// A part of the work, which one processor does.
#[derive(Clone, Debug)]
pub(in crate::steady) struct Part {
    pub instructions: f64,
    /// Of these, what only an interrupt has.
    pub hard: f64,
    /// Lines that it reads.
    pub lines: f64,
    /// Processors that do it in turn; none = all.
    pub cpus: Vec<u16>,
}

impl Part {
    /// Whether some processor does both.
    pub fn meets(&self, other: &Self) -> bool {
        let both = || self.cpus.iter().any(|cpu| other.cpus.contains(cpu));
        self.cpus.is_empty() || other.cpus.is_empty() || both()
    }
}

/// What interrupts do to a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::steady) struct Handled {
    /// How much longer a burst waits for its answer [ns].
    pub answer_ns: f64,
    /// Share of its threads' time that they stand still, or what slower siblings come to.
    pub lost: f64,
    /// Whether its hypervisor sees to them, so that its virtual processors are off meanwhile.
    pub outside: bool,
    /// Time of cores that had no work otherwise [cores].
    pub beside: f64,
    /// Instructions in a nanosecond on siblings of busy threads, beyond what those are slowed.
    pub on_siblings: f64,
    /// How often in a nanosecond a core is woken for it.
    pub wakes: f64,
    /// Share of the bursts that would wake a core and find that an interrupt has.
    pub woken: f64,
    /// Most bursts in a nanosecond that are answered; none = as many as come.
    pub most: Option<f64>,
}

impl Handling {
    /// Of a partition; none where its devices cost nothing.
    pub fn of(one: &Partition) -> Option<Self> {
        let told: &Interrupts = one.interrupts.as_deref()?;
        let part = |(hard, soft): (f64, f64), lines, cpus: &[u16]| Part {
            instructions: hard + soft,
            hard,
            lines,
            cpus: cpus.to_vec(),
        };
        let (hard, soft) = (told.instructions, told.soft_instructions);
        let parts = if told.soft_to.is_empty() {
            vec![part((hard, soft), told.lines, &told.to)]
        } else {
            vec![
                part((hard, 0.0), 0.0, &told.to),
                part((0.0, soft), told.lines, &told.soft_to),
            ]
        };
        Some(Self {
            parts,
            domain: told.domain.map(|at| MemoryId::new(usize::from(at))),
            rate_per_ns: told.rate_per_s * 1e-9,
            polls: told.polls,
            coalesces: (
                told.coalesce_ns as f64,
                match told.coalesce_most {
                    0 => f64::INFINITY,
                    most => f64::from(most),
                },
            ),
        })
    }

    /// What a part takes where so much comes to each of the processors that do it in a nanosecond,
    /// an instruction takes so long, and lines are waited for so long [ns]: instructions, and the
    /// time for which a device waits [ns].
    ///
    /// An interrupt opens a busy time: what comes while the device waits and while the processor is
    /// at work shares it. With `n` that come while it waits, `h` during the interrupt itself, and a
    /// share `s` of the time at the work that follows, that are `(1 + n + h) / (1 - s)` for an
    /// interrupt. The device's wait adds as much to all of them as it does where that work takes no
    /// time (a server that begins late, with what comes by chance: Welch 1964).
    pub fn coalesced(
        &self,
        part: &Part,
        rate_per_ns: f64,
        (instruction_ns, lines_ns): (f64, f64),
    ) -> (f64, f64) {
        if part.hard <= 0.0 || (!self.polls && self.coalesces.0 <= 0.0) {
            return (part.instructions, 0.0);
        }
        let rate = rate_per_ns.max(NONE);
        let soft_ns = (part.instructions - part.hard) * instruction_ns + lines_ns;
        let (hard, soft) = if self.polls {
            (rate * part.hard * instruction_ns, rate * soft_ns)
        } else {
            (0.0, 0.0)
        };
        let (wait_ns, most) = self.coalesces;
        let wait_ns = wait_ns.min((most - 1.0) / rate);
        let during = rate * wait_ns;
        let share = (1.0 - soft).max(0.0) / (1.0 + during + hard);
        let waits = wait_ns * (1.0 + 0.5 * during) / (1.0 + during);
        (part.instructions - (1.0 - share) * part.hard, waits)
    }
}

impl Handled {
    /// Goes part of the way to another.
    pub fn turn_to(&mut self, to: Self, part: f64) {
        self.answer_ns += part * (to.answer_ns - self.answer_ns);
        self.lost += part * (to.lost - self.lost);
        (self.beside, self.on_siblings) = (to.beside, to.on_siblings);
        (self.wakes, self.woken) = (to.wakes, to.woken);
        (self.most, self.outside) = (to.most, to.outside);
    }

    /// Part that they leave of the time in which its virtual processors have a core.
    pub fn leaves(&self) -> f64 {
        if self.outside {
            1.0
        } else {
            1.0 - self.lost
        }
    }

    /// Part that is answered of the bursts that all `demands` ask for from outside.
    pub fn part_of<'a>(&self, demands: impl Iterator<Item = &'a Demand>) -> f64 {
        let asked = demands.map(|demand| match demand.arrivals {
            Arrivals::Open(rate) if demand.asks_devices => rate,
            _ => 0.0,
        });
        let asked: f64 = asked.sum();
        match self.most {
            Some(most) if asked > most => most / asked,
            _ => 1.0,
        }
    }

    /// What comes to the processors where answers are so late, and this part of what is asked for
    /// from outside is answered.
    pub fn answered(&self, demand: &Demand, part: f64) -> Arrivals {
        match demand.arrivals {
            Arrivals::Open(rate) if demand.asks_devices => Arrivals::Open(part * rate),
            Arrivals::Closed(count, away_ns) if demand.asks_devices => {
                Arrivals::Closed(count, away_ns + self.answer_ns)
            }
            arrivals => arrivals,
        }
    }

    /// Where those who wait ask for more than can be answered, they wait for as long as makes it as
    /// much (Little's law: who is not at work is away, or waits).
    pub fn wait_for_the_most(&mut self, demand: &Demand, load: &Load) {
        let (Arrivals::Closed(count, away_ns), Some(most)) = (demand.arrivals, self.most) else {
            return;
        };
        if demand.asks_devices {
            let waits_ns = (count - load.runnable) / most.max(NONE) - away_ns;
            self.answer_ns = self.answer_ns.max(waits_ns);
        }
    }

    /// Whether more comes than is ever answered, of which this part is, or what nobody waits for
    /// leaves no room for answers.
    pub fn is_short(&self, demand: &Demand, part: f64) -> bool {
        demand.asks_devices
            && match (demand.arrivals, self.most) {
                (Arrivals::Open(_), _) => part < 1.0,
                (Arrivals::Closed(..), Some(most)) => most <= NONE,
                _ => false,
            }
    }

    /// How much longer each transaction takes [ns].
    pub fn of_transaction_ns(&self, demand: &Demand) -> f64 {
        if demand.asks_devices {
            demand.bursts * self.answer_ns
        } else {
            0.0
        }
    }
}

/// Threads that do others' input and output.
#[derive(Clone, Debug)]
pub(in crate::steady) struct Serves {
    /// Whose, and the time that each burst of theirs asks for [ns].
    pub guests: Vec<(usize, f64)>,
    /// Mean time of a request or an answer [ns].
    pub mean_ns: f64,
    /// Square of their coefficient of variation.
    pub varied: f64,
}

/// What a guest asks of such threads.
#[derive(Clone, Copy, Debug)]
pub(in crate::steady) struct AsksIo {
    pub server: usize,
    /// Requests a burst; each burst has one answer.
    pub requests: f64,
    request_ns: f64,
    answer_ns: f64,
}

impl AsksIo {
    /// Of a guest; none where its virtual processors do it.
    pub fn of(one: &Partition) -> Option<Self> {
        let IoThreads {
            partition,
            request_ns,
            answer_ns,
            kick_ns,
        } = one.io_threads?;
        let bursts = Shape::of(&one.workload, &one.profile).bursts;
        Some(Self {
            server: partition.into(),
            requests: (bursts - 1.0) / bursts,
            request_ns: request_ns as f64,
            // Whoever waited for it sleeps as a rule.
            answer_ns: (answer_ns + kick_ns) as f64,
        })
    }

    /// Time that a burst asks for [ns].
    pub fn ns(&self) -> f64 {
        self.answer_ns + self.requests * self.request_ns
    }
}

impl Serves {
    /// Of threads that do others' input and output; none of all other partitions.
    pub fn of(spec: &Spec, one: &Partition) -> Option<Self> {
        let at = spec.partitions.iter().position(|of| of.name == one.name)?;
        let asks = spec.partitions.iter().map(AsksIo::of).enumerate();
        let asks = asks.filter_map(|(guest, asks)| Some((guest, asks?)));
        let guests: Vec<(usize, AsksIo)> = asks.filter(|(_, asks)| asks.server == at).collect();
        let (mut visits, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for (_, asks) in &guests {
            visits += 1.0 + asks.requests;
            sum += asks.ns();
            squares += asks.answer_ns.powi(2) + asks.requests * asks.request_ns.powi(2);
        }
        let mean_ns = sum / f64::max(visits, 1.0);
        (mean_ns > 0.0).then(|| Self {
            guests: guests.iter().map(|(guest, of)| (*guest, of.ns())).collect(),
            mean_ns,
            varied: (squares / visits / (mean_ns * mean_ns) - 1.0).max(0.0),
        })
    }

    /// What asks for their processors; how much does, the guests tell.
    pub fn demand(&self, spec: &Spec, one: &Partition, idle: Demand) -> Demand {
        Demand {
            arrivals: Arrivals::Open(0.0),
            burst: self.mean_ns * core_per_ns(&spec.machine, &one.profile),
            bursts: 1.0,
            wait_ns: 0.0,
            scattered: false,
            alike: None,
            ..idle
        }
    }
}
