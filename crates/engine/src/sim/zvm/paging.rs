//! Page reads of servers. Those pages of a file that are not in central memory come in one read
//! after the other; the server's virtual processor waits in page wait for each, and works on what
//! has come and sends it before it asks for more.

use super::message::{Message, Part};
use super::sending::Sending;
use super::state::{Mode, Task, Vcpu, Web};
use super::Alarm;
use crate::devices::{FileReads, Pager};
use crate::guest::zvm::ids::VcpuId;
use crate::guest::zvm::locks::Lock;
use crate::guest::zvm::segment::{Owner, Segment};
use crate::guest::zvm::sharing::Near;
use crate::ids::PartitionId;
use crate::kernel::{Time, When};
use crate::sim::windows::Partitions;
use crate::sim::world::World;
use crate::spec::{CpLocks, CpPaths};

impl World<Partitions> {
    /// Starts the next page read of a server that lacks some; whether it waits for one.
    pub fn read_page(&mut self, partition: PartitionId, vcpu: VcpuId, message: Message) -> bool {
        let now = self.now;
        let cp = self.cp(partition);
        let v = &mut cp.vcpus[vcpu];
        let (Some(sending), Some(pager)) = (&mut v.sending, &mut cp.pager) else {
            return false;
        };
        let tag = u64::from(u32::from(vcpu));
        let Some(started) = pager.read(Time::from_ns(now), &mut sending.reads, tag) else {
            return false;
        };
        v.started = Some(started);
        sending.has_come(started.pages);
        let (guest, part) = sending.next(cp.web.pieces);
        v.task = Task::Message {
            message,
            guest,
            part,
        };
        v.mode = Mode::PageWait;
        v.page_wait_from = now;
        cp.vm_of(vcpu).page_reads += 1;
        let meter = self.meter_now(partition);
        meter.runnable -= 1;
        meter.blocked += 1;
        self.watch_pager(partition);
        true
    }

    /// Keeps an event pending for the volumes' next one.
    fn watch_pager(&mut self, partition: PartitionId) {
        let now = self.now;
        let cp = self.cp(partition);
        let next = cp.pager.as_mut().and_then(|pager| pager.next_event());
        let Some(next) = next.map(|time| time.as_ns().max(now)) else {
            return;
        };
        if !cp.pager_at.has_come(next) {
            cp.pager_at = When::at(next);
            self.cp_asks(partition, next, Alarm::Paging);
        }
    }

    /// Something happens at the volumes: those whose pages have come go on.
    pub fn page_event(&mut self, partition: PartitionId) {
        let now = self.now;
        let cp = self.cp(partition);
        let mut done = std::mem::take(&mut cp.done);
        if cp.pager_at.has_come(now) {
            cp.pager_at = When::NEVER;
        }
        if let Some(pager) = &mut cp.pager {
            pager.on_event(Time::from_ns(now), &mut done);
        }
        for read in done.drain(..) {
            let vcpu = VcpuId::from(read.tag as u32);
            let cp = self.cp(partition);
            let needs_master = cp.spec.paths.master > 0.0 && cp.master.chance(cp.spec.paths.master);
            let v = &mut cp.vcpus[vcpu];
            v.needs_master = needs_master;
            let waited = now - v.page_wait_from;
            cp.vm_of(vcpu).page_wait_ns += waited;
            self.meter_now(partition).blocked -= 1;
            self.wake_vcpu(partition, vcpu);
        }
        self.cp(partition).done = done;
        self.watch_pager(partition);
    }
}

impl Vcpu {
    /// A server is asked for a file, for which it has `guest` instructions to execute: what it
    /// executes first, and its part. What is all there and goes as one piece needs no account.
    pub fn open_file(&mut self, web: &Web, pager: Option<&mut Pager>, guest: f64) -> (f64, Part) {
        let reads = pager.map_or_else(FileReads::default, |pager| pager.file(web.pages));
        if reads.is_done() && web.pieces == 1 {
            return (guest, Part::WHOLE);
        }
        let mut sending = Sending::new(reads, web.pages, guest);
        let first = sending.next(web.pieces);
        self.sending = Some(sending);
        first
    }

    /// Adds what a page read cost CP.
    pub fn pay_page_io(
        &mut self,
        (paths, locks): (&CpPaths, &CpLocks),
        lock: &mut Lock,
        near: &Near,
        into: &mut Segment,
    ) {
        let Some(started) = self.started.take() else {
            return;
        };
        let ios = 1.0 + f64::from(started.writes);
        into.execute(Owner::Chargeable, ios * paths.page_io);
        // As many frames are stolen as pages come in.
        into.execute(Owner::System, 2.0 * f64::from(started.pages) * paths.page);
        let pages = f64::from(started.pages);
        let takes = (pages * locks.page, locks.lines);
        lock.take(takes, Owner::Chargeable, &near.sharing, near, into);
        // A frame that is stolen costs one page its translation, however often the lock is taken.
        lock.ask(pages * locks.asked, Owner::Chargeable, near, into);
    }
}
