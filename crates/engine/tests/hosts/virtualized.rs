//! What it costs to be a virtual machine: walks of translations in two dimensions, exits for
//! timers, devices and interrupts between processors.

use crate::common::host::{group, host_machine, host_spec, of_kvm, plain_kvm, threads};
use crate::common::{loops, missing_profile, run, transactions, Outcome, GIB, SECOND};
use homenode_engine::spec::{
    Distribution, Guest, HostThreads, Policy, Spec, Virtualized, Walks, Workload,
};

const WALKS: Walks = Walks {
    entries: 1536,
    large_entries: 16,
    upper: 1.0 / 6.0,
    guest_tables: 0.6,
    cache_share: 0.5,
};

const FREE: Virtualized = Virtualized {
    page_bytes: 4096,
    exit_ns: 0,
    timer_exits: 2,
    posted_interrupts: true,
};

const MIB_2: u64 = 2 << 20;
const GIB_1: u64 = 1 << 30;

/// One machine with as many loops as processors, that misses its caches.
fn spec_of(policy: Policy, virtualized: Option<Virtualized>, page: u64, data: u64) -> Spec {
    let host = HostThreads {
        virtualized: virtualized.map(Box::new),
        ..if policy == Policy::Linux {
            of_kvm(plain_kvm())
        } else {
            HostThreads::default()
        }
    };
    let mut one = group("a", threads(2, 100, host), loops(2));
    one.profile = missing_profile(1e6);
    (one.page_bytes, one.data_bytes) = (page, data);
    for part in &mut one.memory {
        part.bytes = part.bytes.max(data);
    }
    let mut spec = host_spec(host_machine(policy, "core:2"), vec![], vec![one]);
    spec.machine.walks = Some(WALKS);
    spec.machine.hypervisor.linux.numa_balancing = None;
    spec.duration_ns = SECOND;
    spec
}

fn done(spec: &Spec) -> f64 {
    run(spec, 0).total("a", "instructions")
}

fn paged(policy: Policy, guest: u64, host: u64, data: u64) -> f64 {
    let by = Virtualized {
        page_bytes: host,
        ..FREE
    };
    done(&spec_of(policy, Some(by), guest, data))
}

#[test]
fn larger_pages_of_guest_and_of_host_cost_less() {
    for policy in [Policy::Linux, Policy::Credit2] {
        for data in [GIB, 16 * GIB, 256 * GIB] {
            let bare = done(&spec_of(policy, None, 4096, data));
            let of = |guest, host| paged(policy, guest, host, data) / bare;
            let by_host = [4096, MIB_2, GIB_1].map(|host| of(4096, host));
            assert!(by_host[0] < 0.996 && by_host.is_sorted(), "{by_host:?}");
            assert!(by_host[1] > by_host[0], "{by_host:?}");
            let both = [4096, MIB_2, GIB_1].map(|page| of(page, page));
            assert!(both.is_sorted() && both[1] > by_host[1], "{both:?}");
            assert!(both[2] < 1.0 + 1e-9, "{both:?}");
        }
    }
}

/// The translations that a core holds reach a small guest's data, and no caches hold the tables of
/// a large one.
#[test]
fn more_data_cost_more_and_little_costs_nothing() {
    let lost = |data| {
        let bare = done(&spec_of(Policy::Linux, None, 4096, data));
        1.0 - paged(Policy::Linux, 4096, 4096, data) / bare
    };
    let losses = [1 << 22, GIB / 4, GIB, 16 * GIB, 256 * GIB].map(lost);
    assert_eq!(losses[0], 0.0);
    assert!(losses.windows(2).all(|two| two[0] < two[1]), "{losses:?}");
    // Memory answers in 100 ns, a walk beyond the profile's in as many again for a table or two.
    assert!(losses[4] < 0.7, "{losses:?}");
}

/// A tick is as much shorter as it is dearer.
#[test]
fn ticks_cost_their_exits() {
    let with = |tick_ns, exit_ns| {
        let by = Virtualized { exit_ns, ..FREE };
        let mut spec = spec_of(Policy::Credit2, Some(by), 4096, 1 << 20);
        if let Guest::Linux(unix) = &mut spec.partitions[0].guest {
            unix.tick_ns = tick_ns;
        }
        done(&spec)
    };
    let free = with(4_000_000, 0);
    for (tick_ns, exit_ns, share) in [
        (4_000_000, 1_000, 0.0005),
        (4_000_000, 10_000, 0.005),
        (1_000_000, 10_000, 0.02),
    ] {
        let lost = 1.0 - with(tick_ns, exit_ns) / free;
        assert!((lost - share).abs() < 1e-5, "{lost} {share}");
    }
    // Under Linux the host's own tick interrupts it besides.
    let by = Virtualized {
        exit_ns: 10_000,
        timer_exits: 0,
        ..FREE
    };
    let mut spec = spec_of(Policy::Linux, Some(by), 4096, 1 << 20);
    spec.machine.hypervisor.linux.tick_ns = 4_000_000;
    let ticked = done(&spec);
    spec.machine.hypervisor.linux.tick_ns = 1_000_000;
    assert!(done(&spec) < 0.995 * ticked);
}

/// Work of 100 us at a time, a device between.
fn asking(by: Option<Virtualized>) -> Outcome {
    let mut spec = spec_of(Policy::Linux, by, 4096, 1 << 20);
    let one = &mut spec.partitions[0];
    one.workload = transactions(2_000.0, Distribution::Constant);
    if let Workload::Transactions { bursts, .. } = &mut one.workload {
        *bursts = 2.0;
    }
    one.profile.instructions_per_unit = 1e5;
    run(&spec, 0)
}

#[test]
fn devices_cost_exits_and_posted_interrupts_save_two_of_three() {
    let cost = |posted_interrupts, exit_ns| {
        let outcome = asking(Some(Virtualized {
            posted_interrupts,
            exit_ns,
            timer_exits: 0,
            ..FREE
        }));
        outcome.total("a", "book_hypervisor") / outcome.total("a", "tx_done")
    };
    let free = cost(true, 0);
    let [posted, not] = [true, false].map(|posted| cost(posted, 2_000) - free);
    // Two answers a transaction, and a thousandth of the time for the host's ticks.
    assert!((posted - 4_000.0).abs() < 400.0, "{posted}");
    assert!((not - 12_000.0).abs() < 600.0, "{not}");
}

#[test]
fn bare_metal_pays_nothing() {
    let walked = spec_of(Policy::Linux, None, 4096, 16 * GIB);
    let mut plain = walked.clone();
    plain.machine.walks = None;
    let told = |spec: &Spec| format!("{:?}", run(spec, 0));
    assert_eq!(told(&walked), told(&plain));
    let unknown = Spec {
        machine: plain.machine.clone(),
        ..spec_of(Policy::Linux, Some(FREE), 4096, 16 * GIB)
    };
    assert_eq!(done(&unknown), done(&plain), "without walks nor exits");
}

/// Threads on two processors that wait for each other: whoever is last wakes the other.
#[test]
fn an_interrupt_to_another_processor_is_an_exit() {
    let with = |exit_ns| {
        let by = Virtualized {
            exit_ns,
            timer_exits: 0,
            ..FREE
        };
        let mut spec = spec_of(Policy::Credit2, Some(by), 4096, 1 << 20);
        let one = &mut spec.partitions[0];
        one.workload = Workload::Barriers {
            count: 1,
            threads: 2,
            burst_work: Distribution::Exponential,
        };
        one.profile.instructions_per_unit = 1e5;
        run(&spec, 0)
    };
    let [free, some] = [0, 2_000].map(with);
    let hypervisor = |outcome: &Outcome| outcome.total("a", "book_hypervisor");
    let (steps, more) = (
        some.total("a", "tx_done"),
        hypervisor(&some) - hypervisor(&free),
    );
    assert!(
        more > 1_000.0 * steps && more < 2_001.0 * steps,
        "{more} in {steps}"
    );
    assert!(steps <= free.total("a", "tx_done"));
}

/// Work that a kernel or the host does for a transaction takes its time whatever the transaction's
/// own instructions miss, and is told as that of whoever does it.
#[test]
fn work_for_pages_takes_its_time_whoever_misses_what() {
    let spec = |kernel_ns, host_ns, eicpi| {
        let mut spec = spec_of(Policy::Linux, None, 4096, 1 << 20);
        let one = &mut spec.partitions[0];
        one.workload = transactions(200.0, Distribution::Exponential);
        (one.profile.eicpi, one.profile.system_share) = (eicpi, 0.0);
        (one.profile.kernel_ns, one.profile.host_ns) = (kernel_ns, host_ns);
        spec.duration_ns = 4 * SECOND;
        run(&spec, 0)
    };
    for eicpi in [0.5, 2.0] {
        let each =
            |outcome: &Outcome, name| outcome.total("a", name) / outcome.total("a", "tx_done");
        let (none, kernel, host) = (
            spec(0.0, 0.0, eicpi),
            spec(100_000.0, 0.0, eicpi),
            spec(0.0, 100_000.0, eicpi),
        );
        for more in [&kernel, &host] {
            let longer = each(more, "busy_ns") - each(&none, "busy_ns");
            assert!((longer / 100_000.0 - 1.0).abs() < 0.03, "{eicpi} {longer}");
        }
        let by_host = |outcome: &Outcome| each(outcome, "hypervisor_ns");
        assert!((by_host(&host) - by_host(&none) - 100_000.0).abs() < 3_000.0);
        assert!((by_host(&kernel) - by_host(&none)).abs() < 3_000.0);
        let system = |outcome: &Outcome| each(outcome, "sys_ns");
        assert!(system(&kernel) > system(&none) + 80_000.0);
        assert!(system(&host) < system(&none) + 20_000.0);
    }
}
