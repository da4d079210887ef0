//! Which guest pages are not in central memory, and in how many reads they come back.
//!
//! Guests' pages that central memory does not hold lie on the paging volumes. Which ones is a
//! question of sizes only: every page is as likely to be missing as any other, once the run has
//! settled. Pages leave memory in blocks that were in use at the same time, and a fault for one of
//! them brings the block back (z/VM 4.2.0 and 6.4.0 performance reports on block paging).
//!
//! A page that comes in needs a frame. CP's demand scan frees them, one after the other as a
//! processor does that works on nothing else, and keeps a list of them; a read takes the faulted
//! page and as much of its block as there are frames on that list, and the rest of the block is
//! for the next fault. So a server that faults faster than frames come reads small pieces, one
//! whose volumes are slow whole blocks. That a short list cuts a block read, rather than making
//! it wait, is assumed.

use crate::kernel::{Stream, Time};

/// Bytes of a page, and of a frame.
pub const PAGE_BYTES: u64 = 4096;

/// Most free frames that the demand scan keeps ready, as a share of central memory: assumed,
/// between 1/100,000 and 1/1000. It bridges bursts; where frames are scarce or plenty for seconds
/// it changes nothing.
const READY_SHARE: f64 = 1e-4;

/// Share of the guests' pages that are not in central memory [0..1].
///
/// `guest_frames` is the share of central memory that holds guest pages [0..1].
pub fn missing_share(guest_bytes: u64, central_bytes: u64, guest_frames: f64) -> f64 {
    if guest_bytes == 0 {
        return 0.0;
    }
    let held = central_bytes as f64 * guest_frames;
    (1.0 - held / guest_bytes as f64).clamp(0.0, 1.0)
}

/// Guest memory that has no place at all [bytes]; none if central memory and the paging volumes
/// together hold it.
pub fn shortage(
    guest_bytes: u64,
    central_bytes: u64,
    guest_frames: f64,
    paging_bytes: u64,
) -> Option<u64> {
    let held = (central_bytes as f64 * guest_frames) as u64;
    let short = guest_bytes.saturating_sub(held.saturating_add(paging_bytes));
    (short > 0).then_some(short)
}

/// What is still to be read of a file, block by block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileReads {
    block: u32,
    /// Whole blocks that are missing and not begun.
    blocks: u32,
    /// Pages of the last, shorter block, if it is missing and not begun.
    rest: u32,
    /// Pages still missing of the block that was begun.
    begun: u32,
}

impl FileReads {
    /// A file of `pages` pages, of whose blocks each is missing with the chance `missing`.
    pub fn draw(pages: u32, block: u16, missing: f64, stream: &mut Stream) -> Self {
        let block = u32::from(block.max(1));
        let mut reads = Self {
            block,
            ..Self::default()
        };
        if missing <= 0.0 {
            return reads;
        }
        for _ in 0..pages / block {
            reads.blocks += u32::from(stream.chance(missing));
        }
        if pages % block > 0 && stream.chance(missing) {
            reads.rest = pages % block;
        }
        reads
    }

    /// Whether everything is there.
    pub fn is_done(&self) -> bool {
        self.pages() == 0
    }

    /// Pages still missing.
    pub fn pages(&self) -> u32 {
        self.blocks * self.block + self.rest + self.begun
    }

    /// Takes the pages of the next read: those of one block, at most `frames`, but at least one.
    pub(super) fn take(&mut self, frames: u32) -> u32 {
        if self.begun == 0 {
            if self.blocks > 0 {
                self.blocks -= 1;
                self.begun = self.block;
            } else {
                self.begun = std::mem::take(&mut self.rest);
            }
        }
        let pages = self.begun.min(frames.max(1));
        self.begun -= pages;
        pages
    }
}

/// The list of free frames that the demand scan fills.
#[derive(Clone, Debug)]
pub(super) struct Available {
    /// Frames on the list at `at`; negative are promised to reads that wait for them.
    frames: f64,
    at: Time,
    most: f64,
    frame_ns: f64,
}

impl Available {
    /// A full list, which is filled in no time.
    pub(super) fn new(central_bytes: u64) -> Self {
        let most = (central_bytes / PAGE_BYTES) as f64 * READY_SHARE;
        Self {
            frames: most.max(1.0),
            at: Time::ZERO,
            most: most.max(1.0),
            frame_ns: 0.0,
        }
    }

    /// From now on the scan frees a frame in so long [ns].
    pub(super) fn scans_in(&mut self, now: Time, frame_ns: f64) {
        self.fill(now);
        self.frame_ns = frame_ns;
    }

    /// Whole frames on the list.
    pub(super) fn ready(&mut self, now: Time) -> u32 {
        self.fill(now);
        if self.frame_ns <= 0.0 {
            return u32::MAX;
        }
        self.frames.max(0.0) as u32
    }

    /// Adds what was freed until now.
    fn fill(&mut self, now: Time) {
        let freed = now.saturating_sub(self.at).as_ns_f64() / self.frame_ns;
        self.frames = if self.frame_ns > 0.0 {
            (self.frames + freed).min(self.most)
        } else {
            self.most
        };
        self.at = now.max(self.at);
    }

    /// Takes frames; the time until they are there.
    pub(super) fn take(&mut self, pages: u32) -> Time {
        if self.frame_ns <= 0.0 {
            return Time::ZERO;
        }
        self.frames -= f64::from(pages);
        Time::from_ns_f64(-self.frames * self.frame_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn what_is_missing_is_a_matter_of_sizes() {
        assert_eq!(missing_share(512 * GIB, 256 * GIB, 1.0), 0.5);
        assert!((missing_share(320 * GIB, 256 * GIB, 0.95) - 0.24).abs() < 1e-12);
        assert_eq!(missing_share(200 * GIB, 256 * GIB, 0.95), 0.0);
        assert_eq!(missing_share(0, 256 * GIB, 0.95), 0.0);
    }

    #[test]
    fn guests_must_fit_somewhere() {
        assert_eq!(shortage(300 * GIB, 256 * GIB, 0.5, 172 * GIB), None);
        assert_eq!(shortage(301 * GIB, 256 * GIB, 0.5, 172 * GIB), Some(GIB));
        assert_eq!(shortage(GIB, 2 * GIB, 1.0, 0), None);
    }

    #[test]
    fn a_file_that_is_all_out_comes_block_by_block() {
        let mut stream = Stream::new(1, 0, "file");
        let mut reads = FileReads::draw(50, 20, 1.0, &mut stream);
        assert_eq!(reads.pages(), 50);
        let taken: Vec<u32> =
            std::iter::from_fn(|| (!reads.is_done()).then(|| reads.take(12))).collect();
        assert_eq!(taken, [12, 8, 12, 8, 10]);
    }

    #[test]
    fn a_read_takes_one_page_at_least_and_one_block_at_most() {
        let mut stream = Stream::new(1, 0, "file");
        let mut reads = FileReads::draw(40, 20, 1.0, &mut stream);
        assert_eq!([reads.take(0), reads.take(99), reads.take(99)], [1, 19, 20]);
        assert!(reads.is_done());
        assert!(FileReads::draw(256, 20, 0.0, &mut stream).is_done());
    }

    #[test]
    fn frames_come_one_after_the_other() {
        // 80,000 frames, of which one in ten thousand is kept ready.
        let mut list = Available::new(80_000 * PAGE_BYTES);
        assert_eq!(list.ready(Time::ZERO), u32::MAX);
        list.scans_in(Time::ZERO, 100.0);
        assert_eq!(list.ready(Time::ZERO), 8);
        assert_eq!(list.take(8), Time::ZERO);
        assert_eq!(list.ready(Time::from_ns(250)), 2);
        // 2.5 are there, 4 are taken: 1.5 are still to come.
        assert_eq!(list.take(4), Time::from_ns(150));
        assert_eq!(list.ready(Time::from_ns(250)), 0);
        assert_eq!(list.ready(Time::from_ns(100_000)), 8);
        // What was freed before the scan became slower counts at its former pace.
        list.take(8);
        list.scans_in(Time::from_ns(100_400), 200.0);
        assert_eq!(list.ready(Time::from_ns(100_800)), 6);
    }
}
