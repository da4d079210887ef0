//! W2 as a bare loop.

use super::heap::{key, unpack, Heap};
use super::random::Random;
use crate::load::{
    Dispatches, BURST_NS, ENDLESS_NS, ENTITLED_NS, SERVERS, SLEEPERS, SLEEP_NS, VPS, WINDOW_NS,
};

/// What the next event of a virtual processor means.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    Wake,
    BurstEnd,
    EntitlementEnd,
    WindowEnd,
}

/// A virtual processor. Slices run to their end, so they are charged when they begin.
#[derive(Clone, Copy)]
struct Vp {
    /// Rest of the burst [ns].
    burst: u64,
    /// Rest of the entitlement [ns].
    entitled: u64,
    /// When it joined the run queue [ns].
    since: u64,
    next: Next,
}

struct Loop {
    heap: Heap,
    random: Random,
    vps: [Vp; 128],
    /// Run queue: each virtual processor is in it at most once.
    ready: [u8; 128],
    head: usize,
    tail: usize,
    exhausted: Vec<u8>,
    idle_cores: usize,
    window_end: u64,
    seen: Dispatches,
}

/// Runs `events` wake-ups, ends of bursts and ends of slices.
pub fn run(events: u64, seed: u64) -> Dispatches {
    let mut work = Loop::new(seed);
    let mut done = 0;
    while done < events {
        let (now, id) = unpack(work.heap.top());
        done += u64::from(id > 0);
        work.event(now, id);
        work.seen.elapsed_ns = now;
    }
    work.seen.wakes = done - work.seen.bursts - work.seen.slices;
    work.seen
}

impl Loop {
    fn new(seed: u64) -> Loop {
        let idle = Vp {
            burst: 0,
            entitled: ENTITLED_NS,
            since: 0,
            next: Next::Wake,
        };
        let mut work = Loop {
            heap: Heap::new(),
            random: Random::new(seed),
            vps: [idle; 128],
            ready: [0; 128],
            head: 0,
            tail: 0,
            exhausted: Vec::with_capacity(VPS),
            idle_cores: SERVERS,
            window_end: WINDOW_NS,
            seen: Dispatches::default(),
        };
        work.heap.push(key(WINDOW_NS, 0));
        for id in 1..=SLEEPERS {
            let wake = (work.random.exponential() * SLEEP_NS as f64) as u64;
            work.heap.push(key(wake, id));
        }
        for id in SLEEPERS + 1..=VPS {
            work.vps[id].burst = ENDLESS_NS;
            work.enqueue(0, id);
        }
        while work.head < work.tail && work.idle_cores > 0 {
            work.idle_cores -= 1;
            let next = work.dispatch(0);
            work.heap.push(next);
        }
        work
    }

    #[inline]
    fn event(&mut self, now: u64, id: usize) {
        if id == 0 {
            return self.tick(now);
        }
        match self.vps[id % 128].next {
            Next::Wake => self.wake(now, id),
            Next::BurstEnd => {
                self.seen.bursts += 1;
                self.vps[id % 128].next = Next::Wake;
                let wake = now + (self.random.exponential() * SLEEP_NS as f64) as u64;
                self.heap.replace_top(key(wake, id));
                self.hand_on(now, false);
            }
            Next::EntitlementEnd => {
                self.seen.slices += 1;
                self.exhausted.push(id as u8);
                self.hand_on(now, true);
            }
            Next::WindowEnd => {
                self.seen.slices += 1;
                self.enqueue(now, id);
                self.hand_on(now, true);
            }
        }
    }

    #[inline]
    fn wake(&mut self, now: u64, id: usize) {
        let vp = &mut self.vps[id % 128];
        vp.burst = 1 + (self.random.exponential() * BURST_NS as f64) as u64;
        if vp.entitled == 0 {
            self.exhausted.push(id as u8);
            self.heap.pop();
        } else if self.idle_cores > 0 {
            self.idle_cores -= 1;
            self.enqueue(now, id);
            let next = self.dispatch(now);
            self.heap.replace_top(next);
        } else {
            self.enqueue(now, id);
            self.heap.pop();
        }
    }

    /// A core is free: the head of the run queue takes it. `open` says that the top of the heap is
    /// still the event just served.
    #[inline]
    fn hand_on(&mut self, now: u64, open: bool) {
        if self.head == self.tail {
            self.idle_cores += 1;
            if open {
                self.heap.pop();
            }
            return;
        }
        let next = self.dispatch(now);
        if open {
            self.heap.replace_top(next);
        } else {
            self.heap.push(next);
        }
    }

    #[inline]
    fn enqueue(&mut self, now: u64, id: usize) {
        self.vps[id % 128].since = now;
        self.ready[self.tail % 128] = id as u8;
        self.tail += 1;
    }

    /// Takes the head of the run queue; the key of the end of its slice.
    #[inline]
    fn dispatch(&mut self, now: u64) -> u64 {
        let id = self.ready[self.head % 128] as usize;
        self.head += 1;
        let vp = &mut self.vps[id % 128];
        let window = self.window_end - now;
        let slice = vp.burst.min(vp.entitled).min(window);
        vp.burst -= slice;
        vp.entitled -= slice;
        vp.next = if vp.burst == 0 {
            Next::BurstEnd
        } else if slice == window {
            Next::WindowEnd
        } else {
            Next::EntitlementEnd
        };
        self.seen.ready_ns += now - vp.since;
        self.seen.dispatches += 1;
        self.seen.busy_ns += slice;
        key(now + slice, id)
    }

    #[cold]
    fn tick(&mut self, now: u64) {
        self.window_end = now + WINDOW_NS;
        self.heap.replace_top(key(self.window_end, 0));
        for vp in &mut self.vps {
            vp.entitled = ENTITLED_NS;
        }
        for id in std::mem::take(&mut self.exhausted) {
            self.enqueue(now, id as usize);
        }
        while self.head < self.tail && self.idle_cores > 0 {
            self.idle_cores -= 1;
            let next = self.dispatch(now);
            self.heap.push(next);
        }
    }
}
