//! The scheduler against a naive twin: one processor, no groups, everything searched anew at every
//! step, a tick every four milliseconds whether anything can happen or not.

use super::ids::QueueId;
use super::tests::{scheduler, spec, CPU};
use crate::hypervisor::HostScheduler;
use crate::ids::VpId;
use crate::kernel::Stream;
use crate::spec::{Processors, Spec};

const TICK: i128 = 4_000_000;
const BASE: i128 = 700_000;

#[derive(Clone, Copy, PartialEq)]
enum Is {
    Away,
    Queued,
    Delayed,
}

#[derive(Clone, Copy)]
struct One {
    slice: i128,
    v: i128,
    deadline: i128,
    protected: i128,
    lag: i128,
    is: Is,
    arrived: u64,
    ever: bool,
}

struct Naive {
    all: Vec<One>,
    curr: Option<usize>,
    arrivals: u64,
    now: i128,
}

impl Naive {
    fn queued(&self) -> Vec<usize> {
        let in_queue = |i: &usize| self.all[*i].is != Is::Away;
        (0..self.all.len()).filter(in_queue).collect()
    }

    fn mean(&self) -> i128 {
        let queued = self.queued();
        let sum: i128 = queued.iter().map(|i| self.all[*i].v).sum();
        sum.div_euclid(queued.len() as i128)
    }

    fn eligible(&self, i: usize) -> bool {
        let queued = self.queued();
        let sum: i128 = queued.iter().map(|q| self.all[*q].v).sum();
        sum >= self.all[i].v * queued.len() as i128
    }

    /// Time goes by; whether the runner has used its slice or lost its protection meanwhile.
    fn advance(&mut self, to: i128) -> bool {
        let ran = to - std::mem::replace(&mut self.now, to);
        let Some(curr) = self.curr.filter(|_| ran > 0) else {
            return false;
        };
        let one = &mut self.all[curr];
        one.v += ran;
        let over = one.v >= one.deadline;
        if over {
            one.deadline = one.v + one.slice;
        }
        let open = over || one.protected <= one.v;
        open && self.queued().len() > 1
    }

    fn best(&self, protect: bool) -> usize {
        let queued = self.queued();
        if queued.len() == 1 {
            return queued[0];
        }
        let curr = self.curr.filter(|c| self.all[*c].is != Is::Away);
        let stays = curr.filter(|c| self.eligible(*c));
        if let Some(c) = stays.filter(|c| protect && self.all[*c].protected > self.all[*c].v) {
            return c;
        }
        let waiting = queued.iter().filter(|i| Some(**i) != curr);
        let fit = waiting.filter(|i| self.eligible(**i));
        let best = fit.min_by_key(|i| (self.all[**i].deadline, self.all[**i].arrived));
        match (stays, best) {
            (Some(c), Some(b)) if self.all[c].deadline < self.all[*b].deadline => c,
            (_, Some(b)) => *b,
            (Some(c), None) => c,
            (None, None) => unreachable!("someone is always eligible"),
        }
    }

    fn schedule(&mut self) {
        let next = loop {
            if self.queued().is_empty() {
                break None;
            }
            let next = self.best(true);
            if self.all[next].is != Is::Delayed {
                break Some(next);
            }
            self.note_lag(next);
            self.all[next].lag = self.all[next].lag.min(0);
            self.all[next].is = Is::Away;
        };
        if next == self.curr {
            return;
        }
        if let Some(was) = self.curr.filter(|c| self.all[*c].is != Is::Away) {
            self.arrivals += 1;
            self.all[was].arrived = self.arrivals;
        }
        self.curr = next;
        if let Some(next) = next {
            let queued = self.queued();
            let shortest = queued.iter().map(|i| self.all[*i].slice).min();
            let one = &mut self.all[next];
            let early = one.v + shortest.unwrap_or(BASE).min(one.slice);
            one.protected = if early == one.v + one.slice {
                one.deadline
            } else {
                one.deadline.min(early)
            };
        }
    }

    fn note_lag(&mut self, i: usize) {
        let bound = (2 * self.all[i].slice).max(TICK);
        self.all[i].lag = (self.mean() - self.all[i].v).clamp(-bound, bound);
    }

    fn place(&mut self, i: usize, floor: i128) {
        let others = self.queued().len() as i128;
        let time = if others == 0 { floor } else { self.mean() };
        let one = &mut self.all[i];
        let lag = if others == 0 {
            0
        } else {
            (one.lag * (others + 1)).div_euclid(others)
        };
        one.v = time - lag;
        let slice = if one.ever { one.slice } else { one.slice / 2 };
        one.deadline = one.v + slice;
        one.ever = true;
        self.arrivals += 1;
        one.arrived = self.arrivals;
    }

    /// Wakes one; it preempts if it would be chosen. One that still stood there is placed before
    /// the runner's time is booked.
    fn wake(&mut self, i: usize, floor: i128, now: i128) {
        let mut over = false;
        if self.all[i].is == Is::Delayed {
            self.note_lag(i);
            if self.all[i].lag > 0 {
                self.all[i].is = Is::Away;
                self.all[i].lag = 0;
                self.place(i, floor);
            }
        } else {
            over = self.advance(now);
            self.place(i, floor);
        }
        self.all[i].is = Is::Queued;
        let Some(curr) = self.curr.filter(|_| !over) else {
            self.now = now;
            return self.schedule();
        };
        over = self.advance(now);
        let shorter = self.all[i].slice < self.all[curr].slice;
        let preempts = self.best(!shorter) == i;
        if preempts && shorter {
            self.all[curr].protected = self.all[curr].v;
        } else if !preempts && shorter {
            let least = self.queued().iter().map(|q| self.all[*q].slice).min();
            let one = &mut self.all[curr];
            one.protected = one.protected.min(one.v + least.unwrap_or(BASE));
        }
        if preempts || over {
            self.schedule();
        }
    }

    /// The runner sleeps.
    fn sleep(&mut self) {
        let i = self.curr.expect("a runner");
        let stays = !self.eligible(i);
        self.note_lag(i);
        self.all[i].is = if stays { Is::Delayed } else { Is::Away };
        if stays {
            self.arrivals += 1;
            self.all[i].arrived = self.arrivals;
        }
        self.schedule();
    }
}

fn threads(slices: &[u64], seed: u64) -> Spec {
    let counts = vec![1; slices.len()];
    let mut spec = spec(1, vec![], &counts);
    spec.seed = seed;
    spec.machine.hypervisor.linux.tick_late_ns = 0;
    for (partition, slice) in spec.partitions.iter_mut().zip(slices) {
        if let Processors::Shared { host, .. } = &mut partition.processors {
            host.slice_ns = Some(*slice);
        }
    }
    spec
}

#[test]
fn a_naive_twin_chooses_the_same() {
    for seed in 0..40 {
        let mut dice = Stream::new(seed, 0, "twin");
        let count = 2 + dice.below(5) as usize;
        let slices: Vec<u64> = (0..count)
            .map(|_| 300_000 + dice.below(6_000_000))
            .collect();
        let mut linux = scheduler(&threads(&slices, seed), 0);
        let one = |slice: &u64| One {
            slice: i128::from(*slice),
            v: 0,
            deadline: 0,
            protected: 0,
            lag: 0,
            is: Is::Away,
            arrived: 0,
            ever: false,
        };
        let mut naive = Naive {
            all: slices.iter().map(one).collect(),
            curr: None,
            arrivals: 0,
            now: 0,
        };
        compare(&mut dice, &mut linux, &mut naive, seed);
    }
}

/// Random wake-ups and sleeps at times off the tick; who runs is compared after each step.
fn compare(dice: &mut Stream, linux: &mut super::Linux, naive: &mut Naive, seed: u64) {
    let (mut now, mut next_event) = (0u64, 1u64);
    let mut awake = vec![false; naive.all.len()];
    for step in 0..4_000 {
        let tick = (now / 4_000_000 + 1) * 4_000_000;
        let is_tick = tick < next_event;
        now = tick.min(next_event);
        // What the scheduler asked for lies at ticks; it may leave out those that change nothing.
        let asked = naive.curr.is_some() && linux.look_at(CPU, now - 1).has_come(now);
        let at = i128::from(now);
        if is_tick {
            let over = naive.advance(at);
            if asked {
                linux.look(CPU, now);
            }
            if over {
                naive.schedule();
            }
        } else {
            next_event = now + 1 + dice.below(6_000_000);
            let i = dice.below(awake.len() as u64) as usize;
            if naive.curr == Some(i) {
                awake[i] = false;
                linux.sleep(VpId::new(i), now);
                naive.advance(at);
                naive.sleep();
            } else if !awake[i] {
                awake[i] = true;
                let alone = linux.tree.queue(QueueId::new(0)).floor;
                linux.wake(VpId::new(i), None, now);
                naive.wake(i, i128::from(alone), at);
            }
        }
        let mut runs = linux.pick(CPU, now);
        while linux.take_pending().is_some() {
            runs = linux.pick(CPU, now);
        }
        let expected = naive.curr.map(|c| c as u32);
        assert_eq!(
            runs.map(u32::from),
            expected,
            "seed {seed} step {step} at {now}"
        );
    }
}
