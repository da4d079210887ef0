//! Threads of a Linux host that do guests' input and output, and what guests wait for them.
//!
//! ```text
//! guest's burst ends ──► thread: request ──► device ──► thread: answer ──► guest's next burst
//! what comes from outside begins with an answer
//! ```
//! So a transaction of `b` bursts asks for `b` answers and `b - 1` requests. The threads are a queue
//! as any partition's: as many servers as there are threads, slowed by whoever shares their
//! processors. Requests and answers are always as long, each of its own, so what is waited for is
//! less than for exponential ones by `(1 + c^2) / 2`, with `c` their coefficient of variation
//! (Allen, Probability, Statistics, and Queueing Theory, 1990: exact for one server).

use super::demand::{Arrivals, Demand};
use super::form::Form;
use super::state::State;
use crate::cost::core_per_ns;
use crate::guest::workload::Shape;
use crate::spec::{IoThreads, Partition, Spec};

/// Share of what threads can do at most up to which their queue is told.
const NEARLY_ALL: f64 = 0.985;

/// Threads that do others' input and output.
#[derive(Clone, Debug)]
pub(super) struct Serves {
    /// Whose, and the time that each burst of theirs asks for [ns].
    guests: Vec<(usize, f64)>,
    /// Mean time of a request or an answer [ns].
    mean_ns: f64,
    /// Square of their coefficient of variation.
    varied: f64,
}

/// What a guest asks of such threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct AsksIo {
    server: usize,
    /// Requests a burst; each burst has one answer.
    requests: f64,
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
        } = one.io_threads?;
        let bursts = Shape::of(&one.workload, &one.profile).bursts;
        Some(Self {
            server: partition.into(),
            requests: (bursts - 1.0) / bursts,
            request_ns: request_ns as f64,
            answer_ns: answer_ns as f64,
        })
    }

    /// Time that a burst asks for [ns].
    fn ns(&self) -> f64 {
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
            ..idle
        }
    }
}

impl State {
    /// Requests and answers in a nanosecond that guests ask for, of those that can be done.
    pub(super) fn asked(&self, at: usize, form: &Form, serves: &Serves) -> Arrivals {
        let most = NEARLY_ALL * self.most_served(at, form);
        Arrivals::Open(self.offered_to(serves).min(most))
    }

    fn offered_to(&self, serves: &Serves) -> f64 {
        let guests = serves.guests.iter();
        let asked = guests.map(|(guest, ns)| self.doing[*guest].load.bursts_per_ns * ns);
        asked.sum::<f64>() / serves.mean_ns
    }

    /// Requests and answers that such threads can do in a nanosecond.
    fn most_served(&self, at: usize, form: &Form) -> f64 {
        let doing = &self.doing[at];
        let ns = form.demand.burst * doing.ns[1] + doing.reload_ns;
        let working = doing.served * (1.0 - doing.stalled) * doing.handled.leaves();
        f64::from(form.filled.vps()) * working / ns
    }

    /// What a burst of a guest waits for such threads [ns], and how many get an answer in a
    /// nanosecond at most; nothing where it has none.
    pub(super) fn io_waits(&self, at: usize, forms: &[&Form]) -> Option<(f64, f64)> {
        let asks = forms[at].asks_io?;
        let serves = forms[asks.server].serves.as_ref()?;
        let load = &self.doing[asks.server].load;
        let done = load.bursts_per_ns.max(1e-18);
        let slower = (load.runnable - load.waiting) / done / serves.mean_ns;
        let queued_ns = load.waiting / done * (1.0 + serves.varied) / 2.0;
        let waits_ns = (1.0 + asks.requests) * queued_ns + asks.ns() * slower.max(1.0);
        let offered = self.offered_to(serves).max(1e-18);
        let most = self.most_served(asks.server, forms[asks.server]) / offered;
        let own = self.doing[at].load.bursts_per_ns;
        Some((waits_ns, NEARLY_ALL * most * own))
    }
}
