//! A closed load for a pager: servers that send file after file and wait for every read.

use homenode_engine::devices::{Done, FileReads, Pager, VolumeCounters};
use homenode_engine::kernel::{Stream, Time};
use homenode_engine::spec::{Paging, StorageServer};

const GIB: u64 = 1 << 30;

/// Length of each file that is paged [pages].
const FILE_PAGES: u32 = 256;

/// Paging of round numbers.
pub fn spec() -> Paging {
    Paging {
        volumes: 64,
        control_units: 4,
        aliases: 0,
        transport: true,
        paths: 0,
        exchange_ns: 0,
        link_page_ns: 0,
        bytes: 1 << 40,
        block_pages: 20,
        changed: 0.14,
        guest_frames: 1.0,
        pend_ns: 147_000,
        connect_ns: 124_500,
        command_page_ns: 10_000,
        page_ns: 17_670,
        storage: StorageServer {
            cache_bytes: GIB,
            stage_pages: 40.0,
            disks: 40,
            disk_ns: 8_200_000,
        },
    }
}

/// What servers got done.
pub struct Closed {
    pub pager: Pager,
    pub files: u64,
    pub reads_done: u64,
    pub pages_done: u64,
}

impl Closed {
    /// Servers whose pages are all on the volumes.
    pub fn run(paging: &Paging, servers: u64, until_ns: u64) -> Self {
        Self::scanned(paging, servers, until_ns, 0)
    }

    /// The same, with a demand scan that frees a frame in so long.
    pub fn scanned(paging: &Paging, servers: u64, until_ns: u64, frame_ns: u64) -> Self {
        let all_out = Paging {
            guest_frames: 0.0,
            ..paging.clone()
        };
        let mut closed = Self::new(&all_out, 2 * GIB, GIB);
        closed.pager.scans_in(Time::ZERO, frame_ns as f64);
        closed.go(servers, Time::from_ns(until_ns));
        closed
    }

    /// Servers whose pages central memory holds as far as it goes.
    pub fn with_memory(
        paging: &Paging,
        servers: u64,
        guests: u64,
        central: u64,
        until_ns: u64,
    ) -> Self {
        let mut closed = Self::new(paging, guests, central);
        closed.go(servers, Time::from_ns(until_ns));
        closed
    }

    fn new(paging: &Paging, guests: u64, central: u64) -> Self {
        let stream = |name: &str| Stream::new(1, 0, name);
        Self {
            pager: Pager::new(paging, guests, central, &stream),
            files: 0,
            reads_done: 0,
            pages_done: 0,
        }
    }

    fn go(&mut self, servers: u64, until: Time) {
        if self.pager.missing_share() == 0.0 {
            return;
        }
        let mut files = vec![FileReads::default(); servers as usize];
        for (tag, file) in files.iter_mut().enumerate() {
            self.next(Time::ZERO, file, tag as u64);
        }
        let mut done: Vec<Done> = Vec::new();
        while let Some(now) = self.pager.next_event().filter(|now| *now <= until) {
            self.pager.on_event(now, &mut done);
            for read in done.drain(..) {
                self.reads_done += 1;
                self.pages_done += u64::from(read.pages);
                let file = &mut files[read.tag as usize];
                self.files += u64::from(file.is_done());
                self.next(now, file, read.tag);
            }
        }
    }

    /// The next read, of the next file that lacks anything.
    fn next(&mut self, now: Time, file: &mut FileReads, tag: u64) {
        while self.pager.read(now, file, tag).is_none() {
            *file = self.pager.file(FILE_PAGES);
        }
    }

    /// All volumes together.
    pub fn all(&self) -> VolumeCounters {
        self.pager
            .volumes()
            .fold(VolumeCounters::default(), |sum, one| VolumeCounters {
                ios: sum.ios + one.ios,
                reads: sum.reads + one.reads,
                pages: sum.pages + one.pages,
                hits: sum.hits + one.hits,
                pend_ns: sum.pend_ns + one.pend_ns,
                disc_ns: sum.disc_ns + one.disc_ns,
                conn_ns: sum.conn_ns + one.conn_ns,
                queue_ns: sum.queue_ns + one.queue_ns,
            })
    }
}
