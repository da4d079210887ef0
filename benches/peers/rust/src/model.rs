//! W1 and W2 as state and reactions to events; who calls them and keeps the future is the kernel's
//! business.

use std::collections::VecDeque;

use serde::Serialize;

use crate::load::{
    Dispatches, Waits, ARRIVAL_NS, BURST_NS, ENDLESS_NS, ENTITLED_NS, SERVERS, SERVICE_NS,
    SLEEPERS, SLEEP_NS, VPS, WINDOW_NS,
};
use crate::random::Random;

/// Something that was put off: the event and how long from now [ns].
pub type Later = (u64, Event);

/// The events of both pieces of work.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, serde::Deserialize)]
pub enum Event {
    Arrival,
    Done,
    Tick,
    Wake(u8),
    BurstEnd(u8),
    EntitlementEnd(u8),
    WindowEnd(u8),
}

/// What an event kernel drives.
pub trait Model: Send + 'static {
    /// The first events.
    fn start(&mut self, later: &mut impl FnMut(Later));
    /// Reacts to an event.
    fn react(&mut self, now_ns: u64, event: Event, later: &mut impl FnMut(Later));
    /// Events so far, ticks not counted.
    fn events(&self) -> u64;
    /// What it saw.
    fn report(&self) -> serde_json::Value;
}

/// W1.
pub struct Queue {
    random: Random,
    idle: usize,
    waiting: VecDeque<u64>,
    seen: Waits,
    events: u64,
}

impl Queue {
    /// An empty queue.
    pub fn new(seed: u64) -> Queue {
        Queue {
            random: Random::new(seed),
            idle: SERVERS,
            waiting: VecDeque::new(),
            seen: Waits::default(),
            events: 0,
        }
    }

    fn draw(&mut self, mean_ns: u64) -> u64 {
        (self.random.exponential() * mean_ns as f64) as u64
    }

    fn serve(&mut self, wait_ns: u64, later: &mut impl FnMut(Later)) {
        self.seen.customers += 1;
        self.seen.wait_ns += wait_ns;
        later((self.draw(SERVICE_NS), Event::Done));
    }
}

impl Model for Queue {
    fn start(&mut self, later: &mut impl FnMut(Later)) {
        later((self.draw(ARRIVAL_NS), Event::Arrival));
    }

    fn react(&mut self, now_ns: u64, event: Event, later: &mut impl FnMut(Later)) {
        self.events += 1;
        if event == Event::Arrival {
            later((self.draw(ARRIVAL_NS), Event::Arrival));
            if self.idle > 0 {
                self.idle -= 1;
                self.serve(0, later);
            } else {
                self.waiting.push_back(now_ns);
            }
        } else if let Some(arrived) = self.waiting.pop_front() {
            self.serve(now_ns - arrived, later);
        } else {
            self.idle += 1;
        }
    }

    fn events(&self) -> u64 {
        self.events
    }

    fn report(&self) -> serde_json::Value {
        serde_json::json!({
            "events": self.events,
            "customers": self.seen.customers,
            "wait_ns": self.seen.wait_ns,
        })
    }
}

#[derive(Clone, Copy)]
struct Vp {
    burst: u64,
    entitled: u64,
    since: u64,
}

/// W2.
pub struct Dispatcher {
    random: Random,
    vps: Vec<Vp>,
    ready: VecDeque<u8>,
    exhausted: Vec<u8>,
    idle_cores: usize,
    window_end: u64,
    seen: Dispatches,
    events: u64,
}

impl Dispatcher {
    /// All asleep but those who never sleep.
    pub fn new(seed: u64) -> Dispatcher {
        let vp = |i| Vp {
            burst: if i < SLEEPERS { 0 } else { ENDLESS_NS },
            entitled: ENTITLED_NS,
            since: 0,
        };
        Dispatcher {
            random: Random::new(seed),
            vps: (0..VPS).map(vp).collect(),
            ready: (SLEEPERS as u8..VPS as u8).collect(),
            exhausted: Vec::new(),
            idle_cores: SERVERS,
            window_end: WINDOW_NS,
            seen: Dispatches::default(),
            events: 0,
        }
    }

    fn draw(&mut self, mean_ns: u64) -> u64 {
        (self.random.exponential() * mean_ns as f64) as u64
    }

    fn wake(&mut self, now: u64, id: u8, later: &mut impl FnMut(Later)) {
        self.seen.wakes += 1;
        self.vps[usize::from(id)].burst = 1 + self.draw(BURST_NS);
        if self.vps[usize::from(id)].entitled == 0 {
            self.exhausted.push(id);
            return;
        }
        self.enqueue(now, id);
        self.fill_cores(now, later);
    }

    fn enqueue(&mut self, now: u64, id: u8) {
        self.vps[usize::from(id)].since = now;
        self.ready.push_back(id);
    }

    fn fill_cores(&mut self, now: u64, later: &mut impl FnMut(Later)) {
        while self.idle_cores > 0 {
            let Some(id) = self.ready.pop_front() else {
                return;
            };
            self.idle_cores -= 1;
            later(self.dispatch(now, id));
        }
    }

    fn dispatch(&mut self, now: u64, id: u8) -> Later {
        let vp = &mut self.vps[usize::from(id)];
        let window = self.window_end - now;
        let slice = vp.burst.min(vp.entitled).min(window);
        vp.burst -= slice;
        vp.entitled -= slice;
        self.seen.ready_ns += now - vp.since;
        self.seen.dispatches += 1;
        self.seen.busy_ns += slice;
        let end = if vp.burst == 0 {
            Event::BurstEnd(id)
        } else if slice == window {
            Event::WindowEnd(id)
        } else {
            Event::EntitlementEnd(id)
        };
        (slice, end)
    }

    fn tick(&mut self, now: u64, later: &mut impl FnMut(Later)) {
        later((WINDOW_NS, Event::Tick));
        self.window_end = now + WINDOW_NS;
        self.vps.iter_mut().for_each(|vp| vp.entitled = ENTITLED_NS);
        for id in std::mem::take(&mut self.exhausted) {
            self.enqueue(now, id);
        }
        self.fill_cores(now, later);
    }
}

impl Model for Dispatcher {
    fn start(&mut self, later: &mut impl FnMut(Later)) {
        later((WINDOW_NS, Event::Tick));
        for id in 0..SLEEPERS as u8 {
            later((1 + self.draw(SLEEP_NS), Event::Wake(id)));
        }
        self.fill_cores(0, later);
    }

    fn react(&mut self, now: u64, event: Event, later: &mut impl FnMut(Later)) {
        self.seen.elapsed_ns = now;
        self.events += u64::from(event != Event::Tick);
        match event {
            Event::Tick => return self.tick(now, later),
            Event::Wake(id) => return self.wake(now, id, later),
            Event::BurstEnd(id) => {
                self.seen.bursts += 1;
                later((1 + self.draw(SLEEP_NS), Event::Wake(id)));
            }
            Event::EntitlementEnd(id) => {
                self.seen.slices += 1;
                self.exhausted.push(id);
            }
            Event::WindowEnd(id) => {
                self.seen.slices += 1;
                self.enqueue(now, id);
            }
            Event::Arrival | Event::Done => unreachable!("events of W1"),
        }
        self.idle_cores += 1;
        self.fill_cores(now, later);
    }

    fn events(&self) -> u64 {
        self.events
    }

    fn report(&self) -> serde_json::Value {
        serde_json::json!({
            "events": self.events,
            "elapsed_ns": self.seen.elapsed_ns,
            "busy_ns": self.seen.busy_ns,
            "ready_ns": self.seen.ready_ns,
            "dispatches": self.seen.dispatches,
            "wakes": self.seen.wakes,
            "bursts": self.seen.bursts,
            "slices": self.seen.slices,
        })
    }
}
