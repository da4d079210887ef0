//! Page reads of servers: who waits, for how long, and what follows for the throughput.

use crate::common;
use crate::common::zvm::{alone, free_cp, paging, real_locks, real_paths, switch, tile, web};
use crate::common::{run, Outcome, GIB, MS, SECOND};
use homenode_engine::spec::{Spec, Workload};

/// A client and `servers` servers that send files of 256 pages, a third of which is paged out.
fn paged(servers: u16) -> Spec {
    let mut zvm = free_cp(tile(0, 1, servers), vec![switch("s")]);
    zvm.paging = Some(paging(16));
    for machine in &mut zvm.machines {
        machine.memory_bytes = GIB;
    }
    let mut spec = alone(8, zvm, web());
    let guests = (u64::from(servers) + 1) * GIB;
    spec.partitions[0].memory[0].bytes = guests * 2 / 3;
    if let Workload::Web { file_bytes, .. } = &mut spec.partitions[0].workload {
        *file_bytes = 1 << 20;
    }
    spec.duration_ns = 5 * SECOND;
    spec.interval_ns = SECOND;
    spec
}

fn sum(outcome: &Outcome, column: &str) -> f64 {
    let at = outcome.virtual_machine.at(column);
    outcome
        .virtual_machine
        .rows()
        .map(|row| row[at])
        .sum::<i64>() as f64
}

fn volumes(outcome: &Outcome, column: &str) -> f64 {
    let at = outcome.volume.at(column);
    outcome.volume.rows().map(|row| row[at]).sum::<i64>() as f64
}

#[test]
fn a_third_of_each_file_is_read_from_the_volumes() {
    let spec = paged(4);
    let outcome = run(&spec, 0);
    let tx = outcome.total("zvm", "tx_done");
    let pages = outcome.total("zvm", "pages_in") / tx;
    assert!((pages / (256.0 / 3.0) - 1.0).abs() < 0.1, "{pages}");
    assert_eq!(
        sum(&outcome, "page_reads"),
        outcome.total("zvm", "page_reads")
    );
    assert!(outcome.total("zvm", "page_writes") > 0.0);
}

/// Dispatches of a transaction, of one client and one server with a processor each.
fn dispatches(bytes: u64) -> f64 {
    let mut spec = alone(2, free_cp(tile(0, 1, 1), vec![switch("s")]), web());
    let workload = &mut spec.partitions[0].workload;
    if let Workload::Web {
        file_bytes,
        client_share,
        ..
    } = workload
    {
        // So that the client is through with a piece before the next one comes.
        (*file_bytes, *client_share) = (bytes, 0.1);
    }
    let outcome = run(&spec, 0);
    sum(&outcome, "dispatches") / outcome.total("zvm", "tx_done")
}

#[test]
fn a_client_is_interrupted_by_each_piece_of_an_answer() {
    let (one, many) = (dispatches(64 << 10), dispatches(1 << 20));
    // The server once, and the client for each of one piece, of 64 of two frames of 8 KiB.
    assert!((one - 2.0).abs() < 0.01, "{one}");
    assert!((many - 65.0).abs() < 0.5, "{many}");
}

/// Four clients and `servers` servers that send files of 1 MiB in frames of so many bytes, 1500 a
/// second whatever their number: three of `cores` processors are busy.
fn sending(cores: u16, servers: u16, frame: u32) -> Spec {
    let mut switch = switch("s");
    switch.frame_bytes = frame;
    let mut spec = alone(cores, free_cp(tile(0, 4, servers), vec![switch]), web());
    let one = &mut spec.partitions[0];
    one.profile.instructions_per_unit = 2_000_000.0;
    if let Workload::Web {
        file_bytes,
        client_share,
        think_ns,
        ..
    } = &mut one.workload
    {
        (*file_bytes, *client_share) = (1 << 20, 0.3);
        *think_ns = u64::from(4 * servers) * SECOND / 1500;
    }
    spec.duration_ns = 4 * SECOND;
    spec.interval_ns = SECOND;
    spec
}

/// Runs that are averaged: one run's wait of the servers is off by a few in a hundred.
const RUNS: u64 = 6;

/// In which the client gets a file.
const PIECES: f64 = 64.0;

/// Mean waits of the clients and of the servers for a processor, and processors in use [us].
fn waits(cores: u16, servers: u16, frame: u32) -> (f64, f64, f64) {
    let runs = (0..RUNS).map(|seed| {
        let mut spec = sending(cores, servers, frame);
        spec.seed = seed;
        waits_of(&spec, usize::from(servers))
    });
    let add = |a: (f64, f64, f64), b: (f64, f64, f64)| (a.0 + b.0, a.1 + b.1, a.2 + b.2);
    let all = runs.fold((0.0, 0.0, 0.0), add);
    let runs = RUNS as f64;
    (all.0 / runs, all.1 / runs, all.2 / runs)
}

fn waits_of(spec: &Spec, servers: usize) -> (f64, f64, f64) {
    let outcome = run(spec, 0);
    let of = |column: &str, from: usize, to: usize| -> f64 {
        let each = (from..to).map(|at| {
            let series = outcome
                .virtual_machine
                .series("virtual_machine", at, column);
            series.iter().sum::<i64>()
        });
        each.sum::<i64>() as f64
    };
    let mean = |from, to| of("wait_ns", from, to) / of("dispatches", from, to) / 1e3;
    let busy = outcome.total("zvm", "busy_ns") / spec.duration_ns as f64;
    (mean(0, 4), mean(4, servers + 4), busy)
}

/// Pieces come while processors idle, and gather while none does: so of many small ones few wait.
#[test]
fn who_is_interrupted_for_little_waits_little_on_average() {
    let [few, many] = [12, 48].map(|servers| waits(4, servers, 1492));
    assert!(few.0 > 0.0 && few.0 < few.1 / 8.0, "{few:?}");
    // More servers with the same work in all come in larger crowds, so that more is waited for each
    // file; and as each uses less of its share, they come before the clients.
    let all = |of: (f64, f64, f64)| PIECES * of.0 + of.1;
    assert!(
        many.0 < many.1 / 4.0 && all(many) > 1.2 * all(few),
        "{few:?} {many:?}"
    );
    assert!(many.1 < few.1, "{few:?} {many:?}");
    // In pieces of two frames of 9 KB there are fewer that find a processor idle. Nothing else
    // changes for servers.
    for (small, servers) in [(few, 12), (many, 48)] {
        let large = waits(4, servers, 8992);
        assert!(large.0 > 2.5 * small.0, "{small:?} {large:?}");
        assert!(
            (large.1 / small.1 - 1.0).abs() < 0.05,
            "{small:?} {large:?}"
        );
        assert!(
            (large.2 / small.2 - 1.0).abs() < 0.01,
            "{small:?} {large:?}"
        );
    }
    // Where processors idle nobody waits.
    assert_eq!(waits(16, 12, 1492).0, 0.0);
}

#[test]
fn servers_that_wait_are_the_requests_outstanding() {
    for servers in [1, 4, 12] {
        let spec = paged(servers);
        let outcome = run(&spec, 0);
        let waiting = sum(&outcome, "page_wait_ns") / spec.duration_ns as f64;
        // All but the time of the guests' own work: each server does 50 us for some ten reads.
        assert!(waiting <= f64::from(servers) && waiting > 0.8 * f64::from(servers));
        // Little's law at the volumes, for reads alone.
        let blocked = outcome.total("zvm", "blocked_ns") / spec.duration_ns as f64;
        assert!(
            (blocked - waiting).abs() < 0.02 * waiting,
            "{blocked} {waiting}"
        );
    }
}

#[test]
fn service_is_pend_and_disconnect_and_connect() {
    let outcome = run(&paged(6), 0);
    let parts: f64 = ["pend_ns", "disc_ns", "conn_ns"]
        .iter()
        .map(|column| volumes(&outcome, column))
        .sum();
    assert_eq!(volumes(&outcome, "busy_ns"), parts);
    assert!(volumes(&outcome, "cache_hits") <= volumes(&outcome, "reads"));
    assert!(volumes(&outcome, "reads") <= volumes(&outcome, "ios"));
}

#[test]
fn more_servers_do_more_until_the_volumes_are_full() {
    let done = |servers| run(&paged(servers), 0).total("zvm", "tx_done");
    let (one, four) = (done(1), done(4));
    assert!(four > 2.0 * one, "{one} {four}");
}

#[test]
fn what_cp_does_for_a_page_takes_time() {
    let mut spec = paged(4);
    let free = run(&spec, 0);
    let zvm = common::zvm::cp(&mut spec.partitions[0]);
    zvm.paths = real_paths();
    zvm.locks = real_locks();
    let paid = run(&spec, 0);
    assert_eq!(free.total("zvm", "chargeable_ns"), 0.0);
    let per_read = |column: &str| paid.total("zvm", column) / paid.total("zvm", "page_reads");
    assert!(per_read("chargeable_ns") > 4_000.0);
    let pages = paid.total("zvm", "pages_in") / paid.total("zvm", "page_reads");
    assert!(per_read("system_ns") > 2.0 * 500.0 * pages);
}

/// One processor at a time looks for frames: more than it frees don't come in, however many
/// processors, volumes and servers there are.
#[test]
fn the_demand_scan_is_the_work_of_one_processor() {
    let of = |page| {
        let mut spec = paged(40);
        let zvm = common::zvm::cp(&mut spec.partitions[0]);
        zvm.paths.page = page;
        let paging = zvm.paging.as_mut().expect("paging");
        (paging.volumes, paging.storage.cache_bytes) = (1000, u64::MAX);
        let outcome = run(&spec, 0);
        let [pages, system, busy, instructions] =
            ["pages_in", "system_ns", "busy_ns", "instructions"]
                .map(|column| outcome.total("zvm", column));
        let scanning = pages * page * busy / instructions / spec.duration_ns as f64;
        (pages, scanning, system / spec.duration_ns as f64)
    };
    let [short, long] = [of(40_000.0), of(80_000.0)];
    for (_, scanning, system) in [short, long] {
        assert!((scanning - 1.0).abs() < 0.03, "{scanning}");
        // A page that comes in takes as long as the frame that is freed for it.
        assert!((system / 2.0 - 1.0).abs() < 0.05, "{system}");
    }
    assert!((short.0 / long.0 - 2.0).abs() < 0.1, "{short:?} {long:?}");
    let (free, _, system) = of(400.0);
    assert!(free > 3.0 * short.0 && system < 1.0, "{free} {system}");
}

#[test]
fn ends_of_reads_wait_for_the_master_processor() {
    let mut spec = paged(12);
    let wait = |spec: &Spec| sum(&run(spec, 0), "wait_ns");
    let zvm = common::zvm::cp(&mut spec.partitions[0]);
    zvm.paths.page_io = 200_000.0;
    let anywhere = wait(&spec);
    common::zvm::cp(&mut spec.partitions[0]).paths.master = 1.0;
    assert!(wait(&spec) > 2.0 * anywhere);
    assert!(spec.warmup_ns == 100 * MS);
}
