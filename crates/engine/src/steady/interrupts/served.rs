//! Threads of a Linux host that do guests' input and output, and what guests wait for them.
//!
//! ```text
//! guest's burst ends ──► thread: request ──► device ──► thread: answer ──► guest's next burst
//! what comes from outside begins with an answer
//! ```
//! So a transaction of `b` bursts asks for `b` answers and `b - 1` requests. The threads are a
//! queue as any partition's: as many servers as there are threads, slowed by whoever shares their
//! processors. Requests and answers are always as long, each of its own, so what is waited for is
//! less than for exponential ones by `(1 + c^2) / 2`, with `c` their coefficient of variation
//! (Allen, Probability, Statistics, and Queueing Theory, 1990: exact for one server).

use crate::steady::layout::form::Form;
use crate::steady::layout::state::State;
use crate::steady::queues::demand::Arrivals;
use crate::steady::queues::devices::{Serves, NEARLY_ALL};

impl State {
    /// Requests and answers in a nanosecond that guests ask for, of those that can be done.
    pub(in crate::steady) fn asked(&self, at: usize, form: &Form, serves: &Serves) -> Arrivals {
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
    pub(in crate::steady) fn io_waits(&self, at: usize, forms: &[&Form]) -> Option<(f64, f64)> {
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
