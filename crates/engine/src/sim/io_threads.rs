//! Input and output of KVM's guests by threads of the host beside their virtual processors.
//!
//! ```text
//! guest asks ──► thread: request ──► device ──► (interrupt) ──► thread: answer ──► guest goes on
//!                what arrives from outside begins here ────────────────┘
//! ```
//! They are threads as all others: they are scheduled, wait for processors, have pins and a group.
//! How the guest tells them is an exit of its own. Who sleeps must be woken besides, which is work
//! of the waker's (`eventfd`, `irqfd`): none where it works already, for then it finds what is
//! there.

use super::event::Event;
use super::system::System;
use super::world::{per_ns, World};
use crate::guest::workload::{Job, JobId, JobKind};
use crate::ids::{PartitionId, VpId};

/// What such a thread has to do: the waiting job's answer, or its request.
const ANSWER: u16 = 1;

impl<S: System> World<S> {
    /// A job waits for a device from now on; what it asks for goes through its guest's I/O threads
    /// first, if it has any.
    fn asks_device(&mut self, id: JobId) {
        if !self.gives_to_io_thread(id, false) {
            self.device_works(id);
        }
    }

    /// A virtual processor has a job that asks a device.
    pub fn asks_device_by(&mut self, id: JobId, by: VpId) {
        self.sys.signals(Some(by));
        self.asks_device(id);
        self.sys.signals(None);
    }

    /// A device has what a job asks for, and needs its time.
    fn device_works(&mut self, id: JobId) {
        let of = &mut self.loads[self.jobs.peek(id).load];
        let wait = of.waits.exponential(of.shape.wait_ns) as u64;
        self.schedule(self.now + wait, Event::Wake(id));
    }

    /// Gives I/O threads a job's request or its answer; `false` if its guest has none.
    pub fn gives_to_io_thread(&mut self, id: JobId, answer: bool) -> bool {
        let guest = self.jobs.peek(id).partition;
        let Some(threads) = self.spec_of(guest).io_threads else {
            return false;
        };
        let server = PartitionId::from(threads.partition);
        let ns = if answer {
            threads.answer_ns
        } else {
            threads.request_ns
        };
        let instructions = ns as f64 * per_ns(&self.spec, self.spec_of(server));
        let request = self.jobs.add(Job {
            member: u16::from(answer) * ANSWER,
            bursts_left: id.index() as u32,
            ..Job::new(
                (server, server.into()),
                JobKind::Request,
                instructions,
                self.now,
            )
        });
        self.is_answered(request);
        true
    }

    /// An I/O thread has done what it was given.
    pub fn has_done_io(&mut self, request: JobId, by: VpId) {
        let job = self.jobs.peek(request);
        let (waits, answer) = (JobId::new(job.bursts_left as usize), job.member == ANSWER);
        self.jobs.remove(request);
        if answer {
            self.sys.signals(Some(by));
            self.reaches_guest(waits);
            self.sys.signals(None);
        } else {
            self.device_works(waits);
        }
    }

    /// What a job waited for is there: its guest is interrupted, and it goes on.
    pub fn reaches_guest(&mut self, id: JobId) {
        let partition = self.jobs.peek(id).partition;
        let cpu = self.is_answered(id);
        let counted = S::handles_in_guest() && self.interrupting.cost(partition);
        if !counted {
            self.count_interrupt(partition, cpu);
        }
    }
}
