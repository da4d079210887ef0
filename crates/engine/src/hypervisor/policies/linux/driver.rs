//! A bare loop around the scheduler, for its own tests: threads that compute, or compute and sleep
//! in turn, on processors of one speed, without the rest of the engine.

use super::Linux;
use crate::hypervisor::HostScheduler;
use crate::ids::{CoreId, VpId};
use crate::kernel::When;

/// What a thread does.
#[derive(Clone, Copy, Debug)]
pub enum Does {
    /// Computes for so long [ns], then ends.
    Compute(u64),
    /// Computes and sleeps in turn [ns].
    Turns(u64, u64),
}

/// What came of a thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Came {
    /// Time on a processor [ns].
    pub ran: u64,
    /// Times that it went to sleep or ended.
    pub slept: u64,
    /// Times that it lost its processor.
    pub lost: u64,
    /// Time that it waited for a processor [ns].
    pub waited: u64,
    /// When it ended [ns].
    pub ended: u64,
    /// Bursts done.
    pub bursts: u64,
}

/// A thread in the loop.
#[derive(Clone, Copy, Debug)]
struct Thread {
    does: Does,
    left: u64,
    wakes_at: When,
    ready_from: Option<u64>,
    came: Came,
}

/// The loop.
pub struct Driver {
    scheduler: Linux,
    threads: Vec<Thread>,
    running: Vec<Option<VpId>>,
    look_at: Vec<When>,
    from: Vec<u64>,
    now: u64,
}

impl Driver {
    /// All threads wake at time 0, one after the other.
    pub fn new(scheduler: Linux, cpus: usize, does: &[Does]) -> Self {
        let thread = |does: &Does| Thread {
            does: *does,
            left: match *does {
                Does::Compute(ns) | Does::Turns(ns, _) => ns,
            },
            wakes_at: When::at(0),
            ready_from: None,
            came: Came::default(),
        };
        Self {
            scheduler,
            threads: does.iter().map(thread).collect(),
            running: vec![None; cpus],
            look_at: vec![When::NEVER; cpus],
            from: vec![0; cpus],
            now: 0,
        }
    }

    /// Runs until a time, or until nothing is left to do.
    pub fn run(mut self, until: u64) -> (Vec<Came>, Linux) {
        while let Some(at) = self.next().filter(|at| *at <= until) {
            self.advance(at);
            self.handle();
        }
        self.advance(until);
        let came = self.threads.iter().map(|t| t.came).collect();
        (came, self.scheduler)
    }

    fn next(&self) -> Option<u64> {
        let wakes = self.threads.iter().map(|t| t.wakes_at);
        let ends = self.running.iter().flatten();
        let ends = ends.map(|vp| When::at(self.now + self.threads[vp.index()].left));
        let looks = self.look_at.iter().copied();
        let all = wakes.chain(ends).chain(looks);
        let next = all.chain([self.scheduler.timer_at()]).min()?;
        next.ns().map(|at| at.max(self.now))
    }

    fn advance(&mut self, to: u64) {
        for vp in self.running.iter().flatten() {
            let thread = &mut self.threads[vp.index()];
            let ran = to - self.now;
            thread.came.ran += ran;
            thread.left -= ran.min(thread.left);
        }
        self.now = to;
    }

    fn handle(&mut self) {
        let now = self.now;
        if self.scheduler.timer_at().has_come(now) {
            self.scheduler.timer(now);
            self.serve();
        }
        for cpu in 0..self.running.len() {
            let runner = self.running[cpu];
            if let Some(vp) = runner.filter(|vp| self.threads[vp.index()].left == 0) {
                self.end_burst(vp);
                self.running[cpu] = None;
                self.scheduler.sleep(vp, now);
                self.serve();
            } else if self.look_at[cpu].has_come(now) {
                self.scheduler.look(CoreId::new(cpu), now);
                self.serve();
            }
        }
        for vp in 0..self.threads.len() {
            if self.threads[vp].wakes_at.has_come(now) {
                self.threads[vp].wakes_at = When::NEVER;
                self.threads[vp].ready_from = Some(now);
                self.scheduler.wake(VpId::new(vp), None, now);
                self.serve();
            }
        }
    }

    fn end_burst(&mut self, vp: VpId) {
        let now = self.now;
        let thread = &mut self.threads[vp.index()];
        thread.came.slept += 1;
        thread.came.bursts += 1;
        match thread.does {
            Does::Compute(_) => thread.came.ended = now,
            Does::Turns(ns, sleep) => {
                thread.left = ns;
                thread.wakes_at = When::at(now + sleep);
            }
        }
    }

    fn serve(&mut self) {
        while let Some(core) = self.scheduler.take_pending() {
            let cpu = core.index();
            let next = self.scheduler.pick(core, self.now);
            while let Some(vp) = self.scheduler.take_passed(core) {
                self.threads[vp.index()].came.lost += 1;
            }
            if next != self.running[cpu] {
                if let Some(vp) = self.running[cpu] {
                    let thread = &mut self.threads[vp.index()];
                    thread.came.lost += 1;
                    thread.ready_from = Some(self.now);
                }
                if let Some(vp) = next {
                    let thread = &mut self.threads[vp.index()];
                    let since = thread.ready_from.take().expect("it was ready");
                    thread.came.waited += self.now - since;
                }
                self.running[cpu] = next;
                self.from[cpu] = self.now;
            }
            self.look_at[cpu] = match next {
                Some(_) => self.scheduler.look_at(core, self.now),
                None => When::NEVER,
            };
        }
    }
}
