//! The guest's own moves: daemons that wake, running threads that change processors, folding.

use super::event::Event;
use super::system::System;
use super::window::SECOND_NS;
use super::world::{per_ns, Task, World};
use crate::guest::aix::{FoldStep, Used};
use crate::guest::workload::{Job, JobId, JobKind};
use crate::guest::Cpu;
use crate::hypervisor::Mode;
use crate::ids::{PartitionId, VpId};
use crate::kernel::When;

impl<S: System> World<S> {
    pub fn next_daemon(&mut self, partition: PartitionId) {
        let guest = &mut self.guests[partition];
        let (rate, ns) = (
            guest.scheduler.unix.daemon_rate_per_s,
            guest.scheduler.unix.daemon_ns,
        );
        if rate > 0.0 && ns > 0 {
            let at = self.now + guest.daemons.exponential(1e9 / rate) as u64;
            self.schedule(at, Event::Daemon(partition));
        }
    }

    pub fn daemon_instructions(&self, partition: PartitionId) -> f64 {
        let per_ns = per_ns(&self.spec, self.spec_of(partition));
        self.guests[partition].scheduler.unix.daemon_ns as f64 * per_ns
    }

    /// A daemon of the guest wakes on a logical processor of its own choice, by the clock: no
    /// device interrupts anybody.
    pub fn wake_daemon(&mut self, partition: PartitionId) {
        if !self.runs(partition) {
            return self.next_daemon(partition);
        }
        let instructions = self.daemon_instructions(partition);
        let guest = &mut self.guests[partition];
        let cpus = u32::from(guest.queues.unfolded()) * u32::from(guest.queues.threads());
        let place = guest.daemons.below(u64::from(cpus)) as u16;
        let id = self.jobs.add(Job {
            last_cpu: guest.queues.number(place),
            ..Job::new(
                (partition, partition.into()),
                JobKind::Daemon,
                instructions,
                self.now,
            )
        });
        let meter = self.meters.integrate(partition, self.now);
        meter.runnable += 1;
        self.make_runnable(id);
        self.next_daemon(partition);
    }

    pub fn next_balance(&mut self, partition: PartitionId) {
        if let Some(every) = self.guests[partition].scheduler.unix.rebalance_ns {
            self.schedule(self.now + every, Event::Balance(partition));
        }
    }

    /// The guest moves a running thread from the fullest virtual processor to the emptiest, if they
    /// differ.
    pub fn balance(&mut self, partition: PartitionId) {
        self.next_balance(partition);
        if let Some((from, to)) = self.guests[partition].queues.crowding() {
            self.even_out(partition, from, to);
            return;
        }
        let Some((from, to)) = self.guests[partition].queues.imbalance() else {
            return;
        };
        let vp = self.vp_at(partition, from);
        let thread = (7 - self.mask(vp).leading_zeros()) as u8;
        if let Some(id) = self.pull(vp, thread) {
            self.run_on(id, to);
            self.drained(vp);
        }
    }

    /// Moves a software thread from the logical processor that has most of them to the one that
    /// has fewest. Which one is left to chance: it depends on ages and priorities that are not
    /// modelled, and any fixed choice could keep step with the time slices and always hit the same.
    fn even_out(&mut self, partition: PartitionId, from: u16, to: u16) {
        let guest = &mut self.guests[partition];
        let waiting = guest.queues.waiting_on(from);
        let choice = guest.moves.below(waiting as u64 + 1) as usize;
        let smt = u16::from(guest.smt);
        let vp = self.at.vps_of[partition].at(usize::from(from / smt));
        let runs = choice == waiting;
        let moved = if runs {
            self.pull(vp, (from % smt) as u8)
        } else {
            self.take_at(partition, from, choice)
        };
        if let Some(id) = moved {
            self.line_up(partition, to, id, false);
            self.slice_time(partition, to);
        }
        if runs {
            self.drained(vp);
        }
    }

    /// Takes the job off a thread in the middle of its burst; none while an interrupt holds it up.
    pub fn pull(&mut self, vp: VpId, thread: u8) -> Option<JobId> {
        let (first, _) = self.threads_of(vp);
        let at = first.plus(usize::from(thread));
        let id = self.threads[at]
            .job()
            .filter(|_| !self.interrupting.holds(at))?;
        self.settle_vp(vp);
        self.threads[at].task = Task::None;
        self.jobs.get(id).instructions = self.threads[at].instructions.max(0.0);
        self.threads[at].done_at = When::NEVER;
        self.next_on_thread(vp, at, thread);
        Some(id)
    }

    /// After threads were pulled: a virtual processor without work cedes, one with work is planned
    /// anew.
    pub fn drained(&mut self, vp: VpId) {
        match (self.vp(vp).mode, self.mask(vp)) {
            (Mode::Running, 0) => S::cede(self, vp),
            (Mode::Running, _) => self.replan(vp),
            (Mode::Ready | Mode::Exhausted, 0) => S::withdraw(self, vp),
            _ => {}
        }
    }

    /// Once a second: unfolds as many virtual processors as are needed, or folds one.
    pub fn fold(&mut self, partition: PartitionId) {
        let Some(folding) = self.guests[partition].scheduler.folding else {
            return;
        };
        let vps = self.guests[partition].queues.online();
        let needed = folding.needed(self.used(partition), vps);
        let queues = &mut self.guests[partition].queues;
        match FoldStep::towards(needed, queues.unfolded()) {
            FoldStep::Keep => {}
            FoldStep::Unfold(more) => {
                for _ in 0..more {
                    if let Some(index) = self.guests[partition].queues.unfold() {
                        self.draw_in(partition, index);
                    }
                }
            }
            FoldStep::Fold => {
                if let Some(index) = queues.fold() {
                    self.clear_out(partition, index);
                }
            }
        }
    }

    /// What a partition's virtual processors used since the last folding step, a second ago.
    fn used(&mut self, partition: PartitionId) -> Used {
        let mut used = Used::default();
        let folded_from_ns = &mut self.guests[partition].folded_from_ns;
        for (vp, from) in self.at.vps_of[partition].into_iter().zip(folded_from_ns) {
            let now = self.meters.on_cores(&self.at.vps[vp]);
            let cores = (now - std::mem::replace(from, now)) as f64 / SECOND_NS as f64;
            used.cores += cores;
            used.most = used.most.max(cores);
        }
        used
    }

    /// The idle threads of a virtual processor that was unfolded take what waits elsewhere.
    pub fn draw_in(&mut self, partition: PartitionId, index: u16) {
        let smt = self.guests[partition].smt;
        for thread in 0..self.guests[partition].queues.threads() {
            let cpu = Cpu { vp: index, thread };
            if self.guests[partition].queues.mask(index) & (1 << thread) != 0 {
                continue;
            }
            if let Some(id) = self.take(partition, index * u16::from(smt) + u16::from(thread)) {
                self.run_on(id, cpu);
            }
        }
    }

    /// Moves everything off a virtual processor that was folded.
    fn clear_out(&mut self, partition: PartitionId, index: u16) {
        self.clear_threads(partition, index, 0);
    }

    /// Moves everything off the threads of a virtual processor from one of them on.
    pub fn clear_threads(&mut self, partition: PartitionId, index: u16, from: u8) {
        let vp = self.vp_at(partition, index);
        let smt = self.guests[partition].smt;
        for thread in from..smt {
            let cpu = index * u16::from(smt) + u16::from(thread);
            while let Some(id) = self.take_at(partition, cpu, 0) {
                self.make_runnable(id);
            }
        }
        for thread in from..smt {
            if let Some(id) = self.pull(vp, thread) {
                self.make_runnable(id);
            }
        }
        self.drained(vp);
    }
}
