//! Paging volumes against closed forms, and what must hold for any of them: servers that send file
//! after file, each waiting for every read.

use crate::pager::{spec, Closed};
use homenode_engine::devices::{hit_share, VolumeCounters};
use homenode_engine::spec::{Paging, StorageServer};
use proptest::prelude::*;

const GIB: u64 = 1 << 30;

/// Volumes that always hit, with frames in plenty.
fn quick(volumes: u16) -> Paging {
    Paging {
        volumes,
        changed: 0.0,
        storage: StorageServer {
            cache_bytes: u64::MAX,
            ..spec().storage
        },
        ..spec()
    }
}

#[test]
fn one_server_waits_for_service_alone() {
    let closed = Closed::run(&quick(1), 1, 1_000_000_000);
    let all = closed.all();
    // Pend, connect and 20 pages; 256 pages are 12 blocks and a last one of 16.
    let whole = 147_000 + 124_500 + 20 * 17_670;
    let file = 12 * whole + 147_000 + 124_500 + 16 * 17_670;
    assert_eq!(all.queue_ns, 0);
    assert_eq!(closed.files, 1_000_000_000 / file);
    assert_eq!(all.hits, all.reads);
}

#[test]
fn a_volume_serves_one_after_the_other() {
    let closed = Closed::run(&quick(1), 10, 1_000_000_000);
    let all = closed.all();
    // Always busy; each waits for the nine others.
    let busy = all.service_ns() as f64 / 1e9;
    assert!((busy - 1.0).abs() < 1e-3, "{busy}");
    let ratio = all.response_ns() as f64 / all.service_ns() as f64;
    assert!((ratio - 10.0).abs() < 0.1, "{ratio}");
}

#[test]
fn with_an_alias_for_each_nobody_waits() {
    let aliased = Paging {
        aliases: 9,
        ..quick(1)
    };
    let all = Closed::run(&aliased, 10, 1_000_000_000).all();
    assert_eq!(all.queue_ns, 0);
    assert!(all.service_ns() > 9_900_000_000);
}

#[test]
fn aliases_serve_the_volumes_of_their_own_control_unit() {
    let two = |aliases| Paging {
        aliases,
        control_units: 2,
        ..quick(4)
    };
    let waits: Vec<u64> = [0, 1, 2, 4]
        .map(|aliases| Closed::run(&two(aliases), 8, 1_000_000_000).all())
        .iter()
        .map(|all| all.queue_ns / all.ios)
        .collect();
    assert!(waits.is_sorted_by(|a, b| a > b), "{waits:?}");
}

#[test]
fn command_mode_takes_longer_on_the_channel() {
    let command = Paging {
        transport: false,
        ..quick(1)
    };
    let [slow, fast] = [&command, &quick(1)].map(|p| Closed::run(p, 1, 1_000_000_000).all());
    let per_io = |all: &VolumeCounters| all.conn_ns as f64 / all.ios as f64;
    let pages = slow.pages as f64 / slow.ios as f64;
    let more = per_io(&slow) - per_io(&fast);
    assert!((more - 10_000.0 * pages).abs() < 20_000.0, "{more}");
}

/// Sixteen volumes of two control units at work, with so many channels.
fn channels(transport: bool, paths: u16, change: impl Fn(&mut Paging)) -> VolumeCounters {
    let mut paging = Paging {
        transport,
        paths,
        control_units: 2,
        ..quick(16)
    };
    change(&mut paging);
    Closed::run(&paging, 16, 1_000_000_000).all()
}

fn pend_ns(all: &VolumeCounters) -> u64 {
    all.pend_ns / all.ios
}

#[test]
fn command_mode_waits_for_channels_that_all_control_units_share() {
    let of = |paths| channels(false, paths, |_| {});
    let some = [1, 2, 4, 8, 16].map(of);
    assert!(some.is_sorted_by(|few, many| few.ios <= many.ios && pend_ns(few) >= pend_ns(many)));
    // One channel is nearly always at work, and no more than that.
    let used = some[0].conn_ns as f64 / 1e9;
    assert!(used > 0.95 && used < 1.001, "{used}");
    // As many channels as volumes: none is waited for, as if there were no end of them.
    assert_eq!(some[4], of(0));
}

#[test]
fn transport_mode_is_limited_by_exchanges_and_by_links() {
    let of = |paths, exchange_ns, link_page_ns| {
        channels(true, paths, |paging| {
            (paging.exchange_ns, paging.link_page_ns) = (exchange_ns, link_page_ns);
            (paging.pend_ns, paging.connect_ns, paging.page_ns) = (1000, 1000, 100);
            paging.changed = 0.0;
        })
    };
    let endless = of(0, 0, 0);
    // A channel does 1e9 / exchange I/Os a second, and a link moves 1e9 / page pages.
    for paths in [1, 2] {
        let busy = of(paths, 50_000, 0).ios as f64 / f64::from(paths) / 20_000.0;
        assert!((busy - 1.0).abs() < 0.01, "{paths}: {busy}");
        let moved = of(paths, 0, 20_000).pages as f64 / f64::from(paths) / 50_000.0;
        assert!((moved - 1.0).abs() < 0.01, "{paths}: {moved}");
    }
    let seldom = of(64, 1000, 100);
    assert!(pend_ns(&seldom) < 1010 && seldom.ios > endless.ios * 98 / 100);
}

#[test]
fn pend_grows_with_the_blocks_of_others_at_the_same_rate_of_pages() {
    let of = |block_pages, servers| {
        let paging = Paging {
            paths: 1,
            exchange_ns: 1000,
            link_page_ns: 3000,
            block_pages,
            // Disks that are never waited for keep readers from going in step.
            storage: StorageServer {
                cache_bytes: 0,
                stage_pages: 1.0,
                disks: 20_000,
                disk_ns: 5_000_000,
            },
            ..quick(2000)
        };
        Closed::run(&paging, servers, 1_000_000_000).all()
    };
    // Many servers with small blocks do as much as fewer with large ones.
    let [small, large] = [of(4, 240), of(16, 62)];
    let (few, many) = (small.pages as f64, large.pages as f64);
    assert!((few / many - 1.0).abs() < 0.1, "{few} {many}");
    let waits = [small, large].map(|all| pend_ns(&all) - quick(64).pend_ns);
    assert!(waits[0] > 0 && waits[1] > 2 * waits[0], "{waits:?}");
}

#[test]
fn scarce_frames_limit_the_pages_and_not_the_reads() {
    let closed = Closed::scanned(&quick(64), 60, 4_000_000_000, 20_000);
    let all = closed.all();
    // The list was full at the start.
    let frames = 4e9 / 20_000.0 + (GIB / 4096) as f64 * 1e-4;
    let ratio = all.pages as f64 / frames;
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
    assert!(all.pages < 3 * all.ios);
    let plenty = Closed::run(&quick(64), 60, 4_000_000_000).all();
    assert!(plenty.pages > 19 * plenty.ios);
}

#[test]
fn changed_pages_are_written_in_whole_blocks() {
    let changing = Paging {
        changed: 0.25,
        ..quick(8)
    };
    let closed = Closed::run(&changing, 8, 1_000_000_000);
    let counters = closed.pager.counters();
    assert_eq!(counters.pages_out, 20 * counters.writes);
    let share = counters.pages_out as f64 / counters.pages_in as f64;
    assert!((share - 0.25).abs() < 0.001, "{share}");
}

#[test]
fn few_disks_are_the_limit() {
    // Everything misses, and nobody waits for a volume: 60 reads over 4 disks of 8.2 ms, each read
    // on a disk of its own. Were their times exponential, they would be busy for 60 / (60 + 4 - 1)
    // (balanced closed network); with less variance they are busier, and never more than always.
    let missing = Paging {
        aliases: 60,
        storage: StorageServer {
            cache_bytes: 0,
            stage_pages: 1.0,
            disks: 4,
            ..spec().storage
        },
        ..quick(64)
    };
    assert_eq!(hit_share(&missing.storage, 2 * GIB, 1), 0.0);
    let all = Closed::run(&missing, 60, 60_000_000_000).all();
    let busy = all.ios as f64 / 60.0 * 8.2e-3 / 4.0;
    assert!((60.0 / 63.0..1.005).contains(&busy), "{busy}");
    assert_eq!(all.hits, 0);
}

#[test]
fn whoever_waits_is_counted_somewhere() {
    // Little: reads on their way = rate x (response + wait for a frame), with and without queues.
    for (volumes, aliases, scan_ns, servers) in [(1, 0, 0, 7), (64, 0, 20_000, 60), (8, 3, 0, 90)] {
        let paging = Paging {
            aliases,
            ..quick(volumes)
        };
        let closed = Closed::scanned(&paging, servers, 4_000_000_000, scan_ns);
        let waited = closed.all().response_ns() + closed.pager.counters().frame_wait_ns;
        let inside = waited as f64 / 4e9 / servers as f64;
        assert!((inside - 1.0).abs() < 0.01, "{volumes} volumes: {inside}");
    }
}

#[test]
fn guests_that_fit_read_nothing() {
    let closed = Closed::with_memory(&spec(), 4, GIB, 2 * GIB, 1_000_000);
    assert_eq!(closed.pager.missing_share(), 0.0);
    assert_eq!(closed.pager.counters().reads, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_holds_for_any_paging(
        volumes in 1u16..40, units in 1u16..5, aliases in 0u16..4, transport: bool,
        scan_ns in 0u64..50_000, changed in 0.0f64..1.0, cache in 0u64..3, servers in 1u64..50,
    ) {
        let paging = Paging {
            volumes, control_units: units, aliases, transport, changed,
            storage: StorageServer { cache_bytes: cache * GIB / 2, ..spec().storage },
            ..spec()
        };
        let run = || Closed::scanned(&paging, servers, 300_000_000, scan_ns);
        let (closed, again) = (run(), run());
        let all = closed.all();
        prop_assert_eq!(all, again.all());
        let counters = closed.pager.counters();
        // Every reader has exactly one read on its way, and pages go in and out in the end.
        prop_assert_eq!(counters.reads, all.reads + servers);
        prop_assert!(counters.pages_in >= closed.pages_done);
        prop_assert_eq!(all.reads, closed.reads_done);
        prop_assert!(all.ios <= counters.reads + counters.writes);
        // A read of the storage server for each that was started, in its cache or not.
        let storage = closed.pager.storage();
        prop_assert!(storage.hits <= storage.reads && storage.reads <= counters.reads);
        // A volume is busy once at a time and for each alias of its control unit.
        let at_once = u64::from(volumes) * u64::from(aliases + 1);
        prop_assert!(all.service_ns() <= 300_000_000 * at_once);
    }
}
