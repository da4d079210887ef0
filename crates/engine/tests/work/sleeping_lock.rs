//! Threads that sleep for a lock: against the machine repairman, and a plain twin that takes every
//! single acquisition.

use std::collections::VecDeque;

use crate::common::*;
use homenode_engine::cost::BOOK_NAMES;
use homenode_engine::hypervisor::policies::by_weight;
use homenode_engine::kernel::Stream;
use homenode_engine::spec::{LockKind, Machine, Partition, Polarization, Policy, Processors};
use homenode_engine::spec::{Spec, Workload};

/// Mean time that a thread is outside and has the lock, as a profile says it.
#[derive(Clone, Copy, Debug)]
struct Section {
    share: f64,
    held: f64,
    switch: f64,
}

/// Threads that never stop, with a lock, on so many cores of their own at 1 instruction a ns.
fn threads(count: u32, cores: u16, section: Section) -> Spec {
    let mut one = partition(
        "a",
        dedicated(0..cores, false),
        Workload::Warehouses { count },
    );
    one.profile.instructions_per_unit = 1e5;
    lock(&mut one, section);
    spec(near(cores), vec![one])
}

fn lock(one: &mut Partition, section: Section) {
    one.profile.lock_kind = LockKind::Sleeping;
    one.profile.lock_share = section.share;
    one.profile.lock_hold_instructions = section.held;
    one.profile.lock_switch_instructions = section.switch;
}

/// One chip on which the lock's line is everywhere at once.
fn near(cores: u16) -> Machine {
    let mut machine = machine(&format!("core:{cores}"));
    machine.cache_to_cache_ns.local = 0.0;
    machine
}

/// Transactions a second times their instructions: work done in a nanosecond.
fn done(outcome: &Outcome, spec: &Spec) -> f64 {
    let units = outcome.total("a", "tx_done") * spec.partitions[0].profile.instructions_per_unit;
    units / spec.duration_ns as f64
}

/// The same of a run.
fn rate(spec: &Spec) -> f64 {
    let outcome = run(spec, 0);
    assert_all(spec, &outcome);
    done(&outcome, spec)
}

fn assert_near(value: f64, expected: f64, tolerance: f64, what: &str) {
    let off = (value - expected).abs();
    assert!(off <= tolerance, "{what}: {value} instead of {expected}");
}

/// Machine repairman, by mean values: work that `n` threads do in a unit of time.
fn repairman(n: u32, section: Section) -> f64 {
    let (think, serve) = (section.held / section.share - section.held, section.held);
    let (mut queue, mut rate) = (0.0, 0.0);
    for customers in 1..=n {
        let stay = serve * (1.0 + queue);
        rate = f64::from(customers) / (think + stay);
        queue = rate * stay;
    }
    rate * (think + serve)
}

/// The same rules, one acquisition after the other: `n` threads on as many processors.
struct Twin {
    section: Section,
    now: f64,
    /// When the present piece of each thread ends; infinite while it sleeps.
    ends: Vec<f64>,
    phase: Vec<Phase>,
    slept: Vec<bool>,
    owes: Vec<f64>,
    holder: Option<usize>,
    spinners: VecDeque<usize>,
    sleepers: VecDeque<usize>,
    woken: Option<usize>,
    stream: Stream,
    holds: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Outside,
    Holds,
    Spins,
    Wakes,
}

impl Twin {
    fn new(threads: usize, section: Section) -> Self {
        let mut twin = Self {
            section,
            now: 0.0,
            ends: vec![0.0; threads],
            phase: vec![Phase::Outside; threads],
            slept: vec![false; threads],
            owes: vec![0.0; threads],
            holder: None,
            spinners: VecDeque::new(),
            sleepers: VecDeque::new(),
            woken: None,
            stream: Stream::new(1, 0, "twin"),
            holds: 0,
        };
        (0..threads).for_each(|thread| twin.compute(thread));
        twin
    }

    /// Work that they do in a unit of time.
    fn rate(&mut self, until: f64) -> f64 {
        while self.now < until {
            let ends = self.ends.iter().enumerate();
            let (thread, end) = ends.min_by(|a, b| a.1.total_cmp(b.1)).expect("threads");
            self.now = *end;
            self.end(thread);
        }
        self.holds as f64 * self.section.held / self.section.share / self.now
    }

    fn end(&mut self, thread: usize) {
        if self.phase[thread] == Phase::Holds {
            self.compute(thread);
            return self.release();
        }
        if self.woken == Some(thread) {
            self.woken = None;
        }
        let spun = self.phase[thread] == Phase::Spins;
        self.spinners.retain(|one| *one != thread);
        if self.holder.is_none() {
            self.take(thread);
        } else if spun {
            self.sleep(thread);
        } else {
            self.phase[thread] = Phase::Spins;
            self.ends[thread] = self.now + 2.0 * self.section.switch;
            queue(&mut self.spinners, thread, self.slept[thread]);
        }
    }

    fn compute(&mut self, thread: usize) {
        let mean = self.section.held / self.section.share - self.section.held;
        self.phase[thread] = Phase::Outside;
        let owes = std::mem::take(&mut self.owes[thread]);
        self.ends[thread] = self.now + owes + self.stream.exponential(mean);
    }

    fn take(&mut self, thread: usize) {
        self.holder = Some(thread);
        self.slept[thread] = false;
        self.holds += 1;
        self.phase[thread] = Phase::Holds;
        self.ends[thread] = self.now + self.stream.exponential(self.section.held);
    }

    fn sleep(&mut self, thread: usize) {
        self.ends[thread] = f64::INFINITY;
        queue(&mut self.sleepers, thread, self.slept[thread]);
        self.slept[thread] = true;
        self.owes[thread] += self.section.switch;
    }

    fn release(&mut self) {
        self.holder = None;
        if let Some(next) = self.spinners.pop_front() {
            self.take(next);
        }
        if self.woken.is_none() {
            self.woken = self.sleepers.pop_front();
            if let Some(next) = self.woken {
                self.phase[next] = Phase::Wakes;
                self.ends[next] = self.now + self.section.switch;
            }
        }
    }
}

/// Who has slept already stands before the others.
fn queue(line: &mut VecDeque<usize>, thread: usize, first: bool) {
    if first {
        line.push_front(thread);
    } else {
        line.push_back(thread);
    }
}

#[test]
fn free_switches_make_a_machine_repairman() {
    for (count, share) in [(2, 0.5), (4, 0.1), (8, 0.1), (16, 0.1), (12, 0.02)] {
        // One in a grain, and hundreds.
        for held in [200.0, 40_000.0] {
            let section = Section {
                share,
                held,
                switch: 0.0,
            };
            let ours = rate(&threads(count, count as u16, section));
            let theirs = repairman(count, section);
            assert_near(
                ours / theirs,
                1.0,
                0.015,
                &format!("{count} at {section:?}"),
            );
        }
    }
    // Whoever has it works, whatever the others do: 1 / held, and no more.
    let section = Section {
        share: 0.3,
        held: 2_000.0,
        switch: 0.0,
    };
    let full = rate(&threads(32, 32, section));
    assert_near(
        full * section.share,
        1.0,
        0.01,
        "use of a lock that all want",
    );
}

#[test]
fn many_acquisitions_at_once_are_as_good_as_one_after_the_other() {
    for (count, share) in [(2, 0.5), (8, 0.1), (8, 0.3), (16, 0.1), (24, 0.1)] {
        for (held, switch) in [
            (200.0, 2_500.0),
            (1_000.0, 2_500.0),
            (5_000.0, 2_500.0),
            (2_000.0, 100.0),
        ] {
            let section = Section {
                share,
                held,
                switch,
            };
            let ours = rate(&threads(count, count as u16, section));
            let theirs = Twin::new(count as usize, section).rate(3e8);
            assert_near(ours / theirs, 1.0, 0.02, &format!("{count} at {section:?}"));
        }
    }
}

/// As the page on the cost model tells it: what is done, and by how many busy cores.
#[test]
fn switches_cost_what_the_page_says() {
    for (held, work, cores) in [(1_000.0, 9.51, 13.8), (5_000.0, 8.89, 10.5)] {
        let section = Section {
            share: 0.1,
            held,
            switch: 2_500.0,
        };
        let spec = threads(16, 16, section);
        let outcome = run(&spec, 0);
        let busy = outcome.total("a", "busy_ns") / SECOND as f64;
        assert_near(done(&outcome, &spec), work, 0.08, "work");
        assert_near(busy, cores, 0.12, "cores");
    }
}

/// Two acquisitions in a burst, and a hundred.
#[test]
fn bursts_of_any_length_have_the_lock_for_their_share() {
    let section = Section {
        share: 0.1,
        held: 1_000.0,
        switch: 2_500.0,
    };
    let with = |unit| {
        let mut spec = threads(16, 16, section);
        spec.partitions[0].profile.instructions_per_unit = unit;
        rate(&spec)
    };
    let [short, long] = [2e4, 1e6].map(with);
    assert_near(short / long, 1.0, 0.02, "short bursts");
}

#[test]
fn who_sleeps_leaves_the_processor() {
    let section = Section {
        share: 0.3,
        held: 5_000.0,
        switch: 2_500.0,
    };
    let sleeping = run(&threads(8, 8, section), 0);
    let mut spec = threads(8, 8, section);
    spec.partitions[0].profile.lock_kind = LockKind::Queue;
    let queue = run(&spec, 0);
    let busy = |outcome: &Outcome| outcome.total("a", "busy_ns") / SECOND as f64;
    assert!(busy(&queue) > 7.9, "{}", busy(&queue));
    assert!(busy(&sleeping) < 5.0, "{}", busy(&sleeping));
    // Books of core time still add up, spinning included.
    let books: f64 = BOOK_NAMES
        .iter()
        .map(|book| sleeping.total("a", &format!("book_{book}")))
        .sum();
    assert_near(books / (busy(&sleeping) * 1e9), 1.0, 1e-6, "books");
    assert!(sleeping.total("a", "book_spin") > 0.0);
}

/// More processors for the same threads: nothing is lost on cores of one's own. A ticket lock
/// collapses, which is published (Boyd-Wickizer and others, 2012), and has no part in this.
#[test]
fn a_processor_more_never_makes_a_partition_slower() {
    for kind in [LockKind::Queue, LockKind::Sleeping] {
        for (share, held) in [(0.1, 1_000.0), (0.1, 20_000.0), (0.5, 1_000.0)] {
            let with = |cores| {
                let mut spec = threads(
                    24,
                    cores,
                    Section {
                        share,
                        held,
                        switch: 2_500.0,
                    },
                );
                spec.partitions[0].profile.lock_kind = kind;
                spec.warmup_ns = SECOND / 4;
                rate(&spec)
            };
            let rates = [1, 2, 3, 4, 6, 8, 12, 16, 20, 24].map(with);
            for two in rates.windows(2) {
                assert!(
                    two[1] > 0.985 * two[0],
                    "{kind:?} {share} {held}: {rates:?}"
                );
            }
            assert!(
                rates[9] < 1.01 / share,
                "{kind:?} {share} {held}: {rates:?}"
            );
        }
    }
}

/// A partition of 16 threads on shared processors, beside another one or none.
fn shared_out(vps: u16, section: Section, neighbours: u32) -> (f64, f64) {
    let mut one = partition("a", shared(1.6, vps), Workload::Warehouses { count: 16 });
    one.profile.instructions_per_unit = 1e5;
    lock(&mut one, section);
    let beside = if neighbours > 0 {
        loops(neighbours)
    } else {
        Workload::Idle
    };
    let other = partition("b", shared(2.3, 4), beside);
    let mut spec = spec(near(4), vec![one, other]);
    spec.machine.hypervisor.dispatch_ns = 1_000;
    let outcome = run(&spec, 0);
    assert_all(&spec, &outcome);
    (
        done(&outcome, &spec),
        outcome.total("a", "busy_ns") / SECOND as f64,
    )
}

#[test]
fn a_neighbour_never_makes_a_partition_faster() {
    for held in [1_000.0, 20_000.0] {
        let section = Section {
            share: 0.1,
            held,
            switch: 2_500.0,
        };
        for vps in [2, 4, 8, 16] {
            let rates = [0, 1, 2, 4].map(|neighbours| shared_out(vps, section, neighbours).0);
            for two in rates.windows(2) {
                assert!(two[1] < 1.015 * two[0], "{vps} {held}: {rates:?}");
            }
        }
    }
}

/// Forty cores with eight threads each, and one lock.
#[test]
fn four_times_the_threads_lose_little_and_collapse_at_a_ticket_lock_alone() {
    let with = |kind, count| {
        let mut one = partition("a", dedicated(0..40, false), Workload::Warehouses { count });
        one.smt = 8;
        one.profile.issue_share = 0.3;
        lock(
            &mut one,
            Section {
                share: 0.015,
                held: 2_000.0,
                switch: 2_500.0,
            },
        );
        one.profile.lock_kind = kind;
        let mut machine = machine("core:40 pu:8");
        machine.smt.gain = vec![1.0, 1.4, 1.6, 1.8, 1.9, 2.0, 2.1, 2.2];
        let mut spec = spec(machine, vec![one]);
        spec.warmup_ns = SECOND / 4;
        rate(&spec)
    };
    for kind in [LockKind::Queue, LockKind::Sleeping] {
        let rates = [40, 80, 160].map(|count| with(kind, count));
        let peak = rates[0].max(rates[1]);
        assert!(
            rates[2] > 0.7 * peak && rates[2] <= peak,
            "{kind:?} {rates:?}"
        );
    }
    // Of a ticket lock each hand-over is slower with each that waits.
    let rates = [80, 160].map(|count| with(LockKind::Ticket, count));
    assert!(rates[1] < 0.6 * rates[0], "{rates:?}");
}

#[test]
fn a_lock_that_is_hardly_held_costs_hardly_anything() {
    let lost = |share, held| {
        1.0 - rate(&threads(
            8,
            8,
            Section {
                share,
                held,
                switch: 2_500.0,
            },
        )) / 8.0
    };
    let losses = [0.1, 0.01, 0.001, 1e-6].map(|share| lost(share, 1_000.0));
    assert!(losses[0] > 0.05 && losses[1] < 0.01, "{losses:?}");
    assert!(
        losses[2].abs() < 2e-3 && losses[3].abs() < 1e-3,
        "{losses:?}"
    );
    // However short it is held: it is free switches' repairman that is left.
    let short = [100.0, 10.0, 1.0].map(|held| lost(0.1, held));
    let free = 1.0
        - repairman(
            8,
            Section {
                share: 0.1,
                held: 1.0,
                switch: 0.0,
            },
        ) / 8.0;
    assert!(
        short.iter().all(|lost| (lost - free).abs() < 0.01),
        "{short:?} {free}"
    );
}

/// Two logical cores that are due a core each keep theirs; of four that are due half a core each a
/// holder takes the lock along when it is thrown off, and all others come to sleep.
#[test]
fn fewer_logical_cores_do_more_where_a_holder_may_lose_its_core() {
    for (share, gain) in [(0.02, 1.001), (0.1, 1.02), (0.3, 1.06)] {
        let [few, most] = [2, 4].map(|cores| under_prsm(cores, share));
        assert!(few > gain * most, "{share}: {few} {most}");
    }
    assert_near(
        under_prsm(2, 0.0) / under_prsm(4, 0.0),
        1.0,
        1e-3,
        "without a lock",
    );
}

/// Two partitions of equal weight on four cores: ours has twelve threads and so many logical cores.
fn under_prsm(cores: u16, share: f64) -> f64 {
    let mut one = partition("a", vertical(cores), Workload::Warehouses { count: 12 });
    one.profile.instructions_per_unit = 1e5;
    if let Processors::Shared { prsm, .. } = &mut one.processors {
        prsm.polarization = Polarization::Horizontal;
    }
    lock(
        &mut one,
        Section {
            share,
            held: 2_000.0,
            switch: 2_500.0,
        },
    );
    let mut spec = spec(near(4), vec![one, partition("b", vertical(4), loops(4))]);
    spec.machine.hypervisor.policy = Policy::Prsm;
    spec.machine.hypervisor.prsm.run_time_ns = Some(10 * MS);
    for (at, share) in by_weight(&spec).into_iter().enumerate() {
        if let Processors::Shared { entitlement, .. } = &mut spec.partitions[at].processors {
            *entitlement = share.expect("shared");
        }
    }
    rate(&spec)
}
