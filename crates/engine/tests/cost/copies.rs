//! What work copies, piece by piece: which way its cost must go with the size of its buffers, with
//! what others keep and with the width of the ways, and why.

use crate::common::{
    dedicated, loops, machine, memory, partition, plain_profile, quiet_guest, spec, GIB, MS, SECOND,
};
use homenode_engine::spec::{
    Aix, Distribution, Guest, Machine, Partition, Profile, StreamPath, Workload,
};
use homenode_engine::steady::price;
use proptest::prelude::*;

/// A book of four chips of eight cores behind 32 MiB each; lines take their time from there on.
fn book() -> Machine {
    let mut machine = machine("node:1 chip:4 core:8");
    machine.memory_bytes_per_s = 1e11;
    for (cache, ns) in machine.caches.iter_mut().zip([0.0, 2.0, 2.0, 6.0]) {
        cache.line_ns = ns;
    }
    machine.streams = Some(StreamPath {
        lines: 1.0,
        transfer_ns: 6.0,
    });
    machine
}

/// An instruction in eight copies a word, to and from so many MiB.
fn copying(mib: f64) -> Profile {
    Profile {
        buffers_bytes: mib * 1_048_576.0,
        copied_bytes: if mib > 0.0 { 1.0 } else { 0.0 },
        ..plain_profile(1e6)
    }
}

/// Time of an instruction of a partition of one core, with so many of them busy on each chip.
fn ns_of(machine: Machine, mut one: Partition, cores: f64) -> f64 {
    one.memory = vec![memory(&[0, 1, 2, 3], 40 * GIB)];
    one.data_bytes = 40 * GIB;
    let prices = price(&spec(machine, vec![one]), &[vec![cores; 4]]);
    let prices = prices.unwrap_or_else(|fault| panic!("{fault}"));
    prices[0].cost.expect("busy cores").ns
}

fn ns_on(machine: Machine, profile: Profile, cores: f64) -> f64 {
    let mut one = partition("a", dedicated(0..1, false), loops(1));
    one.profile = profile;
    ns_of(machine, one, cores)
}

fn ns(profile: Profile, cores: f64) -> f64 {
    ns_on(book(), profile, cores)
}

/// So many jobs that take turns of a length on the core.
fn in_turns(workload: Workload, slice_ns: u64, profile: Profile) -> f64 {
    let mut one = partition("a", dedicated(0..1, false), workload);
    one.guest = Guest::Aix(Aix {
        timeslice_ns: slice_ns,
        ..quiet_guest()
    });
    one.profile = profile;
    ns_of(book(), one, 1.0)
}

#[test]
fn buffers_fit_or_do_not() {
    assert_eq!(ns(copying(0.0), 1.0), ns(plain_profile(1e6), 1.0));
    let [near, chip, half, beyond] = [0.01, 16.0, 64.0, 6_400.0].map(|mib| ns(copying(mib), 1.0));
    assert!(
        near < chip && chip < half && half < beyond,
        "{near} {chip} {half} {beyond}"
    );
}

/// More processes come to the same chip: their buffers push each other out, whatever code and
/// directories they have in common.
#[test]
fn buffers_are_each_jobs_own_whatever_is_common() {
    let with = |common| Profile {
        footprint_common: common,
        sharing: 0.5,
        ..copying(16.0)
    };
    let [alone, crowd] = [1.0, 8.0].map(|cores| ns(with(1.0), cores));
    assert!(crowd > 1.2 * alone, "{alone} {crowd}");
    assert_eq!(crowd, ns(with(0.0), 8.0));
}

/// Buffers of jobs that were between push a job's own out, unless its turn is long enough to go
/// through them many times.
#[test]
fn jobs_that_take_turns_bring_their_own_buffers() {
    let of = |count, slice_ns| in_turns(Workload::Warehouses { count }, slice_ns, copying(8.0));
    assert_eq!(of(1, MS), of(1, SECOND), "nobody is between");
    let mut last = of(1, MS);
    for count in [2, 8, 32, 128] {
        let short = of(count, MS);
        assert!(short > last, "{count}: {short} {last}");
        let longer = [of(count, 10 * MS), of(count, 100 * MS)];
        assert!(
            short > longer[0] && longer[0] > longer[1],
            "{count}: {short} {longer:?}"
        );
        last = short;
    }
    let lone = of(1, MS);
    assert!(of(8, 1_000 * SECOND) < 1.001 * lone);
}

/// A connection's turn is a request and its answer, however long slices are.
#[test]
fn users_take_turns_request_by_request() {
    let users = |count| Workload::Users {
        count,
        think_ns: 0,
        bursts: 1.0,
        wait_ns: 0,
        burst_work: Distribution::Constant,
        think: Distribution::Constant,
    };
    let of = |count, slice_ns| {
        let request = Profile {
            instructions_per_unit: 1e4,
            ..copying(1.0)
        };
        in_turns(users(count), slice_ns, request)
    };
    assert_eq!(of(100, 10 * MS), of(100, SECOND));
    assert!(of(100, SECOND) > of(10, SECOND) && of(10, SECOND) > of(1, SECOND));
}

/// The rest of a line is waited for where the way is narrow, and only by what copies.
#[test]
fn a_narrow_way_costs_those_who_copy_over_it() {
    let mut narrow = book();
    narrow.caches.last_mut().expect("a shared cache").line_ns = 12.0;
    let lost = |profile: Profile| {
        let wide = ns(profile.clone(), 1.0);
        ns_on(narrow.clone(), profile, 1.0) - wide
    };
    let misses = Profile {
        miss_m0: 0.05,
        miss_c0_bytes: 32_768.0,
        ..plain_profile(1e6)
    };
    assert_eq!(lost(misses), 0.0);
    assert_eq!(lost(copying(0.1)), 0.0, "they are nearer than that way");
    // A byte an instruction is a 128th of a line, twelve nanoseconds instead of six.
    let most = 6.0 / 128.0;
    let far = lost(copying(24.0));
    assert!(
        far > 0.5 * most && far <= most * (1.0 + 1e-9),
        "{far} of {most}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Larger buffers, more copying and busier chips never make it faster.
    #[test]
    fn more_of_anything_is_never_faster(
        mib in 0.01_f64..200.0, copied in 0.01_f64..4.0, cores in 1.0_f64..8.0,
        m0 in prop_oneof![Just(0.0), 0.01_f64..0.1], common in 0.0_f64..1.0,
    ) {
        let work = Profile {
            copied_bytes: copied,
            miss_m0: m0,
            miss_c0_bytes: 32_768.0,
            footprint_common: common,
            ..copying(mib)
        };
        let larger = Profile { buffers_bytes: 1.2 * work.buffers_bytes, ..work.clone() };
        let more = Profile { copied_bytes: 1.1 * work.copied_bytes, ..work.clone() };
        let here = ns(work.clone(), cores);
        let least = here * (1.0 - 1e-9);
        prop_assert!(ns(larger, cores) >= least);
        prop_assert!(ns(more, cores) >= least);
        prop_assert!(ns(work, (1.2 * cores).min(8.0)) >= least);
    }
}
