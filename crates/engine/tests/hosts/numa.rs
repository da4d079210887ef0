//! NUMA balancing on a Linux host: memory and threads move towards each other.

use crate::common::host::{group, host_machine, host_spec, on_off, threads};
use crate::common::{loops, memory, missing_profile, plain_profile, run, Outcome, GIB, MS, SECOND};
use homenode_engine::spec::{HostThreads, Kvm, NumaBalancing, Partition, Policy, Spec, Workload};

fn guest(name: &str, vcpus: u16, domain: u16, pins: &[u16]) -> Partition {
    let host = HostThreads {
        pins: (0..vcpus).map(|_| pins.to_vec()).collect(),
        kvm: Some(Kvm::default()),
        ..HostThreads::default()
    };
    let mut one = group(name, threads(vcpus, 100, host), loops(u32::from(vcpus)));
    one.profile = missing_profile(1e6);
    one.profile.sharing = 0.0;
    one.memory = vec![memory(&[domain], GIB)];
    one.home = vec![domain];
    one
}

/// Twenty seconds on two nodes of four processors.
fn host(partitions: Vec<Partition>, balancing: Option<NumaBalancing>) -> Outcome {
    let mut machine = host_machine(Policy::Linux, "node:2 chip:1 core:4");
    machine.hypervisor.linux.numa_balancing = balancing;
    let mut spec: Spec = host_spec(machine, vec![], partitions);
    spec.duration_ns = 20 * SECOND;
    spec.interval_ns = SECOND;
    run(&spec, 0)
}

/// Share of the lines from memory that came from the other node, second by second.
fn far(outcome: &Outcome, name: &str) -> Vec<f64> {
    let of = |column| outcome.series(name, column);
    let (far, near) = (of("lines_memory_far"), of("lines_memory_local"));
    let share = |(far, near): (&i64, &i64)| *far as f64 / (*far + *near) as f64;
    far.iter().zip(&near).map(share).collect()
}

#[test]
fn memory_comes_to_threads_that_are_pinned_elsewhere() {
    let away = || vec![guest("a", 2, 0, &[4, 5, 6, 7])];
    let still = host(away(), None);
    let moving = host(away(), Some(NumaBalancing::default()));
    assert!(far(&still, "a").iter().all(|share| *share == 1.0));
    let shares = far(&moving, "a");
    assert_eq!(shares[0], 1.0);
    // A quarter of a gibibyte is looked at a second, all of it moves.
    assert!(
        shares.windows(2).all(|pair| pair[1] <= pair[0] + 1e-3),
        "{shares:?}"
    );
    assert!(shares[19] < 0.1, "{shares:?}");
    let moved = moving.total("a", "numa_moved_bytes");
    assert!(
        moved > 0.9 * GIB as f64 && moved <= 1.0 * GIB as f64,
        "{moved}"
    );
    let gain = moving.total("a", "instructions") / still.total("a", "instructions");
    assert!(gain > 1.03, "{gain}");
    assert!(moving.total("a", "book_hypervisor") > 0.0);
}

#[test]
fn threads_come_to_memory_that_is_too_much_to_move() {
    let slow = NumaBalancing {
        scan_bytes: 1 << 20,
        ..NumaBalancing::default()
    };
    let all: Vec<u16> = (0..8).collect();
    // Three each of three guests: b and c start where there is room, not where their memory is.
    let guests = || vec![guest("a", 3, 0, &all), guest("b", 3, 1, &all)];
    let still = host(guests(), None);
    let moving = host(guests(), Some(slow));
    let last = |outcome: &Outcome| far(outcome, "a")[19].max(far(outcome, "b")[19]);
    assert!(
        last(&still) > 0.3,
        "{:?} {:?}",
        far(&still, "a"),
        far(&still, "b")
    );
    assert!(
        last(&moving) < 0.05,
        "{:?} {:?}",
        far(&moving, "a"),
        far(&moving, "b")
    );
    assert!(moving.total("a", "host_migrations") > 0.0);
}

#[test]
fn a_socket_that_is_not_there_is_no_node_to_balance_with() {
    let faults = |active: u16, memory_on: u16| {
        let mut machine = host_machine(Policy::Linux, "node:2 chip:1 core:4");
        machine.hypervisor.linux.numa_balancing = Some(NumaBalancing::default());
        machine.active_cores = active;
        let mut one = guest("a", 2, 0, &[0, 1, 2, 3]);
        one.memory = vec![memory(&[memory_on], GIB)];
        let mut spec: Spec = host_spec(machine, vec![], vec![one]);
        spec.duration_ns = 5 * SECOND;
        run(&spec, 0).total("a", "book_hypervisor")
    };
    assert_eq!(faults(4, 0), 0.0);
    // Memory without processors is a node, and so is one with processors whose memory is not used.
    assert!(faults(4, 1) > 0.0);
    assert!(faults(8, 0) > 0.0);
}

/// Scans that move next to nothing, so that threads come to memory or nobody does.
fn idle_scans() -> NumaBalancing {
    NumaBalancing {
        scan_bytes: 1 << 20,
        ..NumaBalancing::default()
    }
}

const ALL: [u16; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// A guest whose one virtual processor begins on the first node and whose memory is on the second;
/// it works for a hundredth of its time, and never when a scan comes.
fn light(name: &str) -> Partition {
    let mut one = guest(name, 1, 1, &ALL);
    on_off(1, 1e5, 9_700_000, &mut one);
    one.profile.miss_m0 = 1e-3;
    one
}

/// Loops of so many virtual processors that are at home on the second node.
fn at_home(count: u16) -> Partition {
    guest("neighbour", count, 1, &[4, 5, 6, 7])
}

#[test]
fn one_that_hardly_runs_comes_home_when_it_runs_after_a_scan() {
    let alone = host(vec![light("a")], Some(idle_scans()));
    let shares = far(&alone, "a");
    assert!(shares[0] > 0.99, "{shares:?}");
    assert!(shares[2..].iter().all(|share| *share < 0.05), "{shares:?}");
    // One that never runs is never looked at.
    let mut idle = light("a");
    on_off(1, 1e5, 100 * SECOND, &mut idle);
    let still = host(vec![idle], Some(idle_scans()));
    assert_eq!(still.total("a", "host_migrations"), 0.0);
}

#[test]
fn one_that_hardly_runs_stays_away_from_a_home_that_is_full() {
    // Three on the first node, so that one more on the second is no more than there.
    let away = |neighbours: u16| {
        let there = guest("there", 3, 0, &[0, 1, 2, 3]);
        let all = vec![light("a"), there, at_home(neighbours)];
        far(&host(all, Some(idle_scans())), "a")[19]
    };
    let full = away(4);
    assert!(full > 0.9, "{full}");
    let room = away(2);
    assert!(room < 0.05, "{room}");
}

#[test]
fn as_many_busy_threads_as_processors_find_home_and_stay_there() {
    let guests = vec![
        guest("a", 4, 0, &ALL),
        guest("b", 3, 1, &ALL),
        light("light"),
    ];
    let outcome = host(guests, Some(idle_scans()));
    for name in ["a", "b", "light"] {
        let shares = far(&outcome, name);
        assert!(shares[19] < 0.05, "{name} {shares:?}");
        let moves = outcome.series(name, "host_migrations");
        assert_eq!(moves[10..].iter().sum::<i64>(), 0, "{name} {moves:?}");
    }
}

/// A loop away from home beside four at home that end after 1.2 s, with scans at 1 and 11 s.
fn after_the_scan(missing: f64) -> Vec<f64> {
    let mut away = guest("a", 1, 1, &ALL);
    away.profile.miss_m0 = missing;
    let mut others = at_home(4);
    others.profile = plain_profile(1.2e9);
    others.workload = Workload::Loops {
        count: 4,
        endless: false,
        busy_ns: 0,
        rest_ns: 0,
    };
    let rare = NumaBalancing {
        scan_period_min_ns: 10 * SECOND,
        ..idle_scans()
    };
    far(&host(vec![away, others], Some(rare)), "a")
}

#[test]
fn who_finds_home_full_tries_again_while_pages_are_left_to_fault() {
    // Sixteen pages of 64 KiB of 16,384 are marked, which hundreds of lines from memory a second
    // touch late, hundreds of thousands at once.
    let late = after_the_scan(1e-4);
    assert!(late[3] < 0.01, "{late:?}");
    let soon = after_the_scan(0.05);
    assert!(soon[3..10].iter().all(|share| *share > 0.99), "{soon:?}");
    assert!(soon[12] < 0.01, "{soon:?}");
}

/// Scans of a mebibyte of a guest that is pinned away from its gibibyte, each of which moves its
/// part of what is left there, and for how long it ran [s]. All come after as long as the first.
fn scanned(on_ns: u64, off_ns: u64, scan_ns: u64) -> (f64, f64) {
    let mut away = guest("a", 1, 0, &[4, 5, 6, 7]);
    if off_ns > 0 {
        on_off(1, on_ns as f64, off_ns, &mut away);
    }
    let even = NumaBalancing {
        scan_delay_ns: scan_ns,
        scan_period_min_ns: scan_ns,
        scan_period_max_ns: scan_ns,
        ..idle_scans()
    };
    let outcome = host(vec![away], Some(even));
    let moved = outcome.total("a", "numa_moved_bytes") / GIB as f64;
    let scans = (-moved).ln_1p() / (-1.0_f64 / 1024.0).ln_1p();
    (scans, outcome.total("a", "busy_ns") / 1e9)
}

/// Twenty seconds with a scan for each half second that it runs, but for a tick and the first.
#[test]
fn who_runs_a_tenth_of_the_time_is_scanned_a_tenth_as_often() {
    for (off_ns, runs) in [(0, 20.0), (MS, 10.0), (9 * MS, 2.0)] {
        let (scans, ran) = scanned(MS, off_ns, SECOND / 2);
        // Far memory makes its turns a little longer.
        assert!(ran > 0.95 * runs && ran < 1.3 * runs, "{ran}");
        assert!((scans - 2.0 * ran).abs() < 1.5, "{scans} {ran}");
    }
}

/// Never sooner than by the clock, however many run; and never where nobody does.
#[test]
fn scans_of_a_guest_come_no_sooner_where_several_of_its_threads_run() {
    let mut many = guest("a", 4, 0, &[4, 5, 6, 7]);
    many.profile.sharing = 1.0;
    let even = NumaBalancing {
        scan_period_max_ns: SECOND,
        ..idle_scans()
    };
    let scans = host(vec![many], Some(even)).total("a", "numa_moved_bytes") / f64::from(1 << 20);
    assert!((18.0..20.1).contains(&scans), "{scans}");
    assert_eq!(scanned(MS, 100 * SECOND, SECOND / 2).0, 0.0);
}
