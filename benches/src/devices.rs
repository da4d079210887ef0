//! Devices by themselves: paging volumes under a closed load, searches of a switch's list.

use std::hint::black_box;
use std::time::Instant;

use homenode_engine::devices::{FileReads, Pager, Searching};
use homenode_engine::kernel::{Stream, Time};
use homenode_engine::spec::{Paging, StorageServer};

use crate::case::{Case, Sample};

const GROUP: &str = "Devices";
const GIB: u64 = 1 << 30;
/// Servers that each wait for a read at any time.
const SERVERS: u64 = 300;
/// Length of each file that is paged [pages].
const FILE_PAGES: u32 = 256;
/// Simulated time of one measurement.
const SIMULATED: Time = Time::from_s(20);
/// Searches of one measurement.
const SEARCHES: u64 = 2_000;

/// All cases of this group, compared with `yardstick`.
pub fn all(yardstick: &'static str) -> Vec<Case> {
    vec![
        Case::new(
            GROUP,
            "paging I/Os: 300 servers, 224 volumes",
            yardstick,
            page,
        ),
        Case::new(
            GROUP,
            "cost of a search: 220 control blocks, 95 processors",
            yardstick,
            search,
        ),
    ]
}

fn paging() -> Paging {
    Paging {
        volumes: 224,
        control_units: 16,
        aliases: 2,
        transport: true,
        paths: 0,
        exchange_ns: 0,
        link_page_ns: 0,
        bytes: 8192 * GIB,
        block_pages: 20,
        changed: 0.15,
        guest_frames: 0.95,
        pend_ns: 150_000,
        connect_ns: 100_000,
        command_page_ns: 15_000,
        page_ns: 20_000,
        storage: StorageServer {
            cache_bytes: 256 * GIB,
            stage_pages: 40.0,
            disks: 64,
            disk_ns: 8_000_000,
        },
    }
}

/// An event is an I/O that was asked for.
fn page(seed: u64) -> Sample {
    let start = Instant::now();
    let stream = |name: &str| Stream::new(seed, 0, name);
    let mut pager = Pager::new(&paging(), 1600 * GIB, 1280 * GIB, &stream);
    pager.scans_in(Time::ZERO, 5_000.0);
    let mut files = vec![FileReads::default(); SERVERS as usize];
    (0..SERVERS).for_each(|server| next(&mut pager, &mut files, Time::ZERO, server));
    let mut done = Vec::new();
    while let Some(now) = pager.next_event().filter(|now| *now <= SIMULATED) {
        pager.on_event(now, &mut done);
        for read in done.drain(..) {
            next(&mut pager, &mut files, now, read.tag);
        }
    }
    let counters = pager.counters();
    Sample {
        simulated_s: SIMULATED.as_s_f64(),
        ..Sample::new(counters.reads + counters.writes, start.elapsed())
    }
}

/// The server's next read, of the next file that lacks anything.
fn next(pager: &mut Pager, files: &mut [FileReads], now: Time, server: u64) {
    let file = &mut files[server as usize];
    while pager.read(now, file, server).is_none() {
        *file = pager.file(FILE_PAGES);
    }
}

fn search(_: u64) -> Sample {
    let start = Instant::now();
    for i in 0..SEARCHES {
        let searching = Searching {
            elements: 220,
            processors: 95.0,
            transfer_ns: 60.0,
            outside_ns: 10_000.0 + i as f64,
            element_instructions: 8.0,
        };
        black_box(black_box(searching).search());
    }
    Sample::new(SEARCHES, start.elapsed())
}
