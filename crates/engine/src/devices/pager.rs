//! Paging: who faults, what is read for it, what must be written to make room.
//!
//! The simulation keeps one event for a pager, at [`Pager::next_event`], and asks again after every
//! call. A read brings in part of a block ([`FileReads`]), and as many frames are stolen for it as
//! pages come in. Of the stolen pages a share was changed; these are collected and written in whole
//! blocks, for which nobody waits. Unchanged pages still have their place on the volumes and are
//! dropped.
//!
//! Not modelled: virtual I/O of the guests' own, pages of the Control Program, page-ins ahead of
//! the fault, and which volume a block lies on (each with equal chance).

use super::memory::{missing_share, Available, FileReads};
use super::storage::{Storage, StorageCounters};
use super::volumes::{Request, VolumeCounters, Volumes};
use crate::kernel::{Stream, Time};
use crate::spec;

/// A read that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Who waited for it.
    pub tag: u64,
    /// Pages that it brought in, and frames stolen for them.
    pub pages: u32,
}

/// What a read started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Started {
    /// Pages that it brings in, and frames stolen for them.
    pub pages: u32,
    /// Writes that the changed ones among the stolen pages made necessary.
    pub writes: u32,
    /// Pages of these writes.
    pub pages_out: u32,
}

/// What a pager did, from the requests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PagerCounters {
    /// Reads asked for.
    pub reads: u64,
    /// Writes asked for.
    pub writes: u64,
    /// Pages of the reads.
    pub pages_in: u64,
    /// Pages of the writes.
    pub pages_out: u64,
    /// Time that faults waited for a free frame [ns].
    pub frame_wait_ns: u64,
}

/// The paging of a partition.
pub struct Pager {
    missing: f64,
    block: u16,
    changed: f64,
    /// Changed pages that wait for a whole block of them.
    unwritten: f64,
    available: Available,
    volumes: Volumes,
    files: Stream,
    counters: PagerCounters,
}

impl Pager {
    /// The paging of guests of so many bytes in so much central memory. `stream` gives the random
    /// stream of a name.
    pub fn new(
        spec: &spec::Paging,
        guest_bytes: u64,
        central_bytes: u64,
        stream: &dyn Fn(&str) -> Stream,
    ) -> Self {
        let missing = missing_share(guest_bytes, central_bytes, spec.guest_frames);
        // Every page is stolen at some time, and keeps its place on the volumes from then on.
        let paged_bytes = if missing > 0.0 { guest_bytes } else { 0 };
        let storage = Storage::new(spec.storage, paged_bytes, stream);
        Self {
            missing,
            block: spec.block_pages.max(1),
            changed: spec.changed,
            unwritten: 0.0,
            available: Available::new(central_bytes),
            volumes: Volumes::new(spec, storage, stream("paging volume")),
            files: stream("paged file"),
            counters: PagerCounters::default(),
        }
    }

    /// From now on the demand scan frees a frame in so long [ns]; at first in no time.
    pub fn scans_in(&mut self, now: Time, frame_ns: f64) {
        self.available.scans_in(now, frame_ns);
    }

    /// Share of the guests' pages that are not in central memory [0..1].
    pub fn missing_share(&self) -> f64 {
        self.missing
    }

    /// What must be read for a file of so many pages.
    pub fn file(&mut self, pages: u32) -> FileReads {
        FileReads::draw(pages, self.block, self.missing, &mut self.files)
    }

    /// Asks for the next part of a file on behalf of `tag`; none if nothing is missing.
    pub fn read(&mut self, now: Time, file: &mut FileReads, tag: u64) -> Option<Started> {
        if file.is_done() {
            return None;
        }
        let pages = file.take(self.available.ready(now));
        let wait = self.available.take(pages);
        let (writes, pages_out) = self.write_changed(now, pages);
        self.counters.reads += 1;
        self.counters.pages_in += u64::from(pages);
        self.counters.frame_wait_ns += wait.as_ns();
        let request = Request {
            pages,
            reader: Some(tag),
        };
        self.volumes.ask(now, now + wait, request);
        Some(Started {
            pages,
            writes,
            pages_out,
        })
    }

    /// Writes what `stolen` frames' changed pages fill of blocks: writes and their pages.
    fn write_changed(&mut self, now: Time, stolen: u32) -> (u32, u32) {
        let pages = u32::from(self.block);
        self.unwritten += f64::from(stolen) * self.changed;
        let mut writes = 0;
        while self.unwritten >= f64::from(pages) {
            self.unwritten -= f64::from(pages);
            writes += 1;
            let request = Request {
                pages,
                reader: None,
            };
            self.volumes.ask(now, now, request);
        }
        self.counters.writes += u64::from(writes);
        self.counters.pages_out += u64::from(writes * pages);
        (writes, writes * pages)
    }

    /// When [`Pager::on_event`] is to be called; an earlier call does nothing.
    pub fn next_event(&mut self) -> Option<Time> {
        self.volumes.next_event()
    }

    /// Lets happen what is due, and adds the reads that ended to `done`.
    pub fn on_event(&mut self, now: Time, done: &mut Vec<Done>) {
        while let Some(ended) = self.volumes.step(now) {
            done.extend(ended.and_then(|request| {
                request.reader.map(|tag| Done {
                    tag,
                    pages: request.pages,
                })
            }));
        }
    }

    /// What each volume did.
    pub fn volumes(&self) -> impl ExactSizeIterator<Item = &VolumeCounters> {
        self.volumes.counters()
    }

    /// What the storage server did.
    pub fn storage(&self) -> StorageCounters {
        self.volumes.storage()
    }

    /// What was asked of the volumes.
    pub fn counters(&self) -> PagerCounters {
        self.counters
    }
}
