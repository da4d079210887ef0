//! W2 on the kernel.

use std::collections::VecDeque;

use homenode_engine::kernel::{self, Priority, Queue, Stream, Time};

use crate::load::{
    Dispatches, BURST_NS, ENDLESS_NS, ENTITLED_NS, SERVERS, SLEEPERS, SLEEP_NS, VPS, WINDOW_NS,
};

const WINDOW: Time = Time::from_ns(WINDOW_NS);
const ENTITLED: Time = Time::from_ns(ENTITLED_NS);
/// The tick comes before the slices that end with the window.
const TICK: Priority = Priority::new(0);
const OTHER: Priority = Priority::new(1);

#[derive(Clone, Copy)]
enum Event {
    Tick,
    Wake(u8),
    BurstEnd(u8),
    EntitlementEnd(u8),
    WindowEnd(u8),
}

/// A virtual processor. Slices run to their end, so they are charged when they begin.
struct Vp {
    /// Rest of the burst.
    burst: Time,
    /// Rest of the entitlement.
    entitled: Time,
    /// When it joined the run queue.
    since: Time,
    stream: Stream,
}

struct Dispatcher {
    queue: Queue<Event>,
    vps: Vec<Vp>,
    ready: VecDeque<u8>,
    exhausted: Vec<u8>,
    idle_cores: usize,
    window_end: Time,
    seen: Dispatches,
}

/// Runs `events` wake-ups, ends of bursts and ends of slices.
pub fn run(events: u64, seed: u64) -> Dispatches {
    let mut work = Dispatcher::new(seed);
    let mut done = 0;
    while let Some((now, _, event)) = kernel::step(&mut work.queue, Time::MAX) {
        work.event(now, event);
        done += u64::from(!matches!(event, Event::Tick));
        if done == events {
            break;
        }
    }
    work.seen.elapsed_ns = work.queue.now().as_ns();
    work.seen.wakes = done - work.seen.bursts - work.seen.slices;
    work.seen
}

impl Dispatcher {
    fn new(seed: u64) -> Dispatcher {
        let mut work = Dispatcher {
            queue: Queue::new(),
            vps: (0..VPS)
                .map(|vp| Vp {
                    burst: if vp < SLEEPERS {
                        Time::ZERO
                    } else {
                        Time::from_ns(ENDLESS_NS)
                    },
                    entitled: ENTITLED,
                    since: Time::ZERO,
                    stream: Stream::new(seed, 0, &format!("vp {vp}")),
                })
                .collect(),
            ready: VecDeque::with_capacity(VPS),
            exhausted: Vec::with_capacity(VPS),
            idle_cores: SERVERS,
            window_end: WINDOW,
            seen: Dispatches::default(),
        };
        work.queue.schedule(WINDOW, TICK, Event::Tick);
        (0..SLEEPERS as u8).for_each(|id| work.sleep(Time::ZERO, id));
        work.ready.extend(SLEEPERS as u8..VPS as u8);
        work.fill_cores(Time::ZERO);
        work
    }

    #[inline]
    fn event(&mut self, now: Time, event: Event) {
        match event {
            Event::Tick => self.tick(now),
            Event::Wake(id) => self.wake(now, id),
            Event::BurstEnd(id) => {
                self.seen.bursts += 1;
                self.sleep(now, id);
                self.hand_on(now);
            }
            Event::EntitlementEnd(id) => {
                self.seen.slices += 1;
                self.exhausted.push(id);
                self.hand_on(now);
            }
            Event::WindowEnd(id) => {
                self.seen.slices += 1;
                self.enqueue(now, id);
                self.hand_on(now);
            }
        }
    }

    #[inline]
    fn sleep(&mut self, now: Time, id: u8) {
        let vp = &mut self.vps[usize::from(id)];
        let wake = now + vp.stream.exponential_time(Time::from_ns(SLEEP_NS));
        self.queue.schedule(wake, OTHER, Event::Wake(id));
    }

    #[inline]
    fn wake(&mut self, now: Time, id: u8) {
        let vp = &mut self.vps[usize::from(id)];
        vp.burst = Time::from_ns(1) + vp.stream.exponential_time(Time::from_ns(BURST_NS));
        if vp.entitled == Time::ZERO {
            self.exhausted.push(id);
            return;
        }
        self.enqueue(now, id);
        if self.idle_cores > 0 {
            self.idle_cores -= 1;
            self.hand_on(now);
        }
    }

    /// A core is free: the head of the run queue takes it.
    #[inline]
    fn hand_on(&mut self, now: Time) {
        match self.ready.pop_front() {
            Some(id) => self.dispatch(now, id),
            None => self.idle_cores += 1,
        }
    }

    #[inline]
    fn enqueue(&mut self, now: Time, id: u8) {
        self.vps[usize::from(id)].since = now;
        self.ready.push_back(id);
    }

    #[inline]
    fn dispatch(&mut self, now: Time, id: u8) {
        let vp = &mut self.vps[usize::from(id)];
        let window = self.window_end - now;
        let slice = vp.burst.min(vp.entitled).min(window);
        vp.burst -= slice;
        vp.entitled -= slice;
        let end = if vp.burst == Time::ZERO {
            Event::BurstEnd(id)
        } else if slice == window {
            Event::WindowEnd(id)
        } else {
            Event::EntitlementEnd(id)
        };
        self.seen.ready_ns += (now - vp.since).as_ns();
        self.seen.dispatches += 1;
        self.seen.busy_ns += slice.as_ns();
        self.queue.schedule(now + slice, OTHER, end);
    }

    #[cold]
    fn tick(&mut self, now: Time) {
        self.window_end = now + WINDOW;
        self.queue.schedule(self.window_end, TICK, Event::Tick);
        for vp in &mut self.vps {
            vp.entitled = ENTITLED;
        }
        for id in std::mem::take(&mut self.exhausted) {
            self.enqueue(now, id);
        }
        self.fill_cores(now);
    }

    fn fill_cores(&mut self, now: Time) {
        while self.idle_cores > 0 && !self.ready.is_empty() {
            self.idle_cores -= 1;
            self.hand_on(now);
        }
    }
}
