//! What it costs to have a message of a pair where it is read.
//!
//! Both sides copy a message, from or to the kernel. Its lines were written by the sender, so a
//! receiver on another core gets each of them from that core's caches: the first after the latency
//! between the two, the next ones as a core has lines on their way. Who reads on the sender's core,
//! or on a thread of it, has them there.
//!
//! ```text
//! lines after the first, each   max(latency / lines under way, transfer)   where that is known
//!                               latency x the share that work waits for    else
//! ```

use super::system::System;
use super::world::{Task, World};
use crate::cost::{Book, Source, Surroundings};
use crate::guest::messages::copy_instructions;
use crate::guest::workload::{JobId, JobKind};
use crate::ids::{CoreId, LoadId, ThreadId, VpId};
use crate::spec::Machine;

const BOOKS: [Book; 3] = [Book::CacheChip, Book::CacheNear, Book::CacheFar];
const SOURCES: [Source; 3] = [Source::CacheChip, Source::CacheNear, Source::CacheFar];

impl<S: System> World<S> {
    /// A thread of a pair sends its message from where it runs.
    pub fn write_message(&mut self, id: JobId, by: VpId) {
        let job = self.jobs.peek(id);
        if let Some(messages) = &mut self.loads[job.load].messages {
            messages.write(job.member, self.at.vps[by].core);
        }
    }

    /// The busy threads of a virtual processor that has a core read what was sent to them.
    pub fn read_messages(&mut self, vp: VpId, core: CoreId) {
        let first = self.at.vps[vp].first_thread;
        let mut bits = self.mask(vp);
        while bits != 0 {
            let at = first.plus(bits.trailing_zeros() as usize);
            bits &= bits - 1;
            let message = self.message_for(at);
            if let Some((load, from)) = message.filter(|(_, from)| !self.same_core(*from, core)) {
                self.fetch_message((vp, core), (at, load), from);
            }
        }
    }

    /// Where the message was written that a thread is to read; it has read it then.
    fn message_for(&mut self, at: ThreadId) -> Option<(LoadId, CoreId)> {
        let Task::Job(id) = self.threads[at].task else {
            return None;
        };
        let job = self.jobs.peek(id);
        if job.kind != JobKind::Exchange {
            return None;
        }
        let messages = self.loads[job.load].messages.as_mut()?;
        messages.read(job.member).map(|core| (job.load, core))
    }

    /// A message's lines are cold for the instructions that copy it, beside what else is.
    fn fetch_message(
        &mut self,
        (vp, core): (VpId, CoreId),
        (at, load): (ThreadId, LoadId),
        from: CoreId,
    ) {
        self.settle(core);
        let (chip, spec) = (self.at.cores[core].chip, &self.spec);
        let distance = self.at.tree.distance(self.at.cores[from].chip, chip) as usize;
        let around = self.table.surroundings(&spec.partitions, load.into(), chip);
        let of = &mut self.loads[load];
        let messages = of.messages.as_mut().expect("who reads them has some");
        let (bytes, line) = (messages.bytes, u64::from(spec.machine.line_bytes));
        let lines = bytes.div_ceil(line) as f64;
        let ns = fetch_ns(&spec.machine, &around, around.cache_ns[distance], lines);
        messages.owe(distance, ns);
        let meter = &mut self.meters.partitions[of.partition];
        meter.lines.add(SOURCES[distance], lines);
        self.add_cold((at, vp), core, (copy_instructions(bytes), ns));
    }

    /// Adds instructions that take `ns` longer in all to what a thread finds cold. What is cold for
    /// the threads of one load on a core has one price: the mean of all of it.
    fn add_cold(&mut self, (at, vp): (ThreadId, VpId), core: CoreId, cold: (f64, f64)) {
        let (instructions, ns) = cold;
        let mean = |before: f64, each: f64| (before * each + ns) / (before + instructions);
        let own = self.threads[at].cold_instructions;
        if self.at.cores[core].mixed {
            let each = &mut self.threads[at].own_ns[1];
            *each = mean(own, *each);
        } else {
            let (first, count) = self.threads_of(vp);
            let busy = (0..count).filter(|thread| self.mask(vp) & (1 << thread) != 0);
            let before =
                busy.map(|thread| self.threads[first.plus(thread.into())].cold_instructions);
            let before = before.sum();
            let each = &mut self.at.cores[core].cold_ns;
            *each = mean(before, *each);
        }
        self.threads[at].cold_instructions = own + instructions;
    }

    /// Books core time in which caches were cold for some of its busy threads: what they waited for
    /// messages where the lines came from, the rest as refilling.
    pub fn book_cold(&mut self, load: LoadId, mut cold_ns: f64, threads: u32) {
        let of = &mut self.loads[load];
        let books = &mut self.meters.partitions[of.partition].books;
        if let Some(messages) = &mut of.messages {
            for (waited, book) in messages.waited(cold_ns, threads).into_iter().zip(BOOKS) {
                cold_ns -= waited;
                books.add(book, waited);
            }
        }
        books.add(Book::Reload, cold_ns);
    }
}

/// Time until all lines of a message are there [ns].
fn fetch_ns(machine: &Machine, around: &Surroundings, latency_ns: f64, lines: f64) -> f64 {
    let each = match machine.streams {
        Some(path) if path.lines > 0.0 => (latency_ns / path.lines).max(path.transfer_ns),
        Some(_) => latency_ns,
        None => latency_ns * around.exposed,
    };
    latency_ns + (lines - 1.0) * each
}
