//! The scheduler alone, under units that always have work or come and go.

use super::*;
use crate::machine::{parse_short, Topology};
use crate::spec::RunQueues;

const MS: u64 = 1_000_000;
const CREDIT: i64 = 10_000_000;

/// Domains of endless loops on a machine, and the processor time that each unit has had.
struct Host {
    scheduler: Credit2,
    now: u64,
    ran: ById<VpId, u64>,
    since: ById<CoreId, u64>,
    idle_ns: u64,
    switches: u64,
}

fn domain(units: usize, weight: u16) -> Domain<'static> {
    Domain {
        units,
        weight,
        cap: None,
        pins: &[],
        soft_pins: &[],
    }
}

impl Host {
    fn new(machine: &str, siblings: u8, rules: spec::Credit2, domains: &[Domain]) -> Self {
        let tree = Topology::new(&parse_short(machine).unwrap());
        let rules = spec::Credit2 {
            timer_late_ns: 0,
            ..rules
        };
        let late = Stream::new(1, 0, "timers");
        let mut scheduler = Credit2::on(&tree, rules, siblings, late);
        domains.iter().for_each(|it| scheduler.add_domain(it));
        Self {
            ran: ById::of(0, scheduler.units.len()),
            since: ById::of(0, scheduler.cpus.len()),
            scheduler,
            now: 0,
            idle_ns: 0,
            switches: 0,
        }
    }

    fn wake(&mut self, vp: u32) {
        self.scheduler.wake(vp.into(), None, self.now);
        self.serve();
    }

    fn sleep(&mut self, vp: u32) {
        self.scheduler.sleep(vp.into(), self.now);
        self.serve();
    }

    /// Who runs on the first processor.
    fn runner(&self) -> Option<usize> {
        let current = self.scheduler.cpus[CoreId::new(0)].current;
        current.map(VpId::index)
    }

    fn book(&mut self, cpu: CoreId) {
        let time = self.now - std::mem::replace(&mut self.since[cpu], self.now);
        match self.scheduler.cpus[cpu].current {
            Some(vp) => self.ran[vp] += time,
            None => self.idle_ns += time,
        }
    }

    fn serve(&mut self) {
        while let Some(cpu) = self.scheduler.take_pending() {
            self.book(cpu);
            let was = self.scheduler.cpus[cpu].current;
            let is = self.scheduler.schedule(cpu, self.now);
            self.switches += u64::from(was.is_some() && was != is);
            self.check();
        }
    }

    /// What holds at any time: a unit runs on one processor at most, and one that may, and waits
    /// while a processor of its queue idles, is about to be served.
    fn check(&self) {
        let it = &self.scheduler;
        for (cpu, at) in it.cpus.entries() {
            assert_eq!(it.idle.contains(cpu), at.current.is_none());
            if let Some(vp) = at.current {
                let unit = &it.units[vp];
                let waiting = it.queues[at.queue].waiting();
                assert_eq!((unit.cpu, unit.queue), (cpu, at.queue));
                assert!(waiting.iter().all(|waiter| waiter.vp != vp));
            }
        }
        for queue in &it.queues {
            self.check_queue(queue);
        }
    }

    fn check_queue(&self, queue: &RunQueue) {
        let it = &self.scheduler;
        for waiter in queue.waiting() {
            let unit = &it.units[waiter.vp];
            assert_eq!((waiter.credit, waiter.cpu), (unit.credit, unit.cpu));
            assert_eq!(unit.doing, Doing::Waiting);
            let aside = &it.asides[waiter.vp];
            let usable = |word: usize| it.idle.word(word) & aside.usable(word);
            let idle = queue.cpus.around(unit.cpu, usable);
            assert!(
                !it.pending.is_empty() || idle.is_none(),
                "waits beside an idle processor"
            );
        }
    }

    fn run_until(&mut self, end: u64) {
        loop {
            let cpus = self.scheduler.cpus.entries();
            let looks = cpus.map(|(cpu, at)| (at.look_at, cpu));
            let (at, cpu) = looks.min().unwrap();
            let timer = self.scheduler.timer_at();
            self.now = at.min(timer).before(end).unwrap_or(end);
            if self.now == end {
                break;
            }
            if timer <= at {
                self.scheduler.timer(self.now);
            } else {
                self.scheduler.look(cpu, self.now);
            }
            self.serve();
        }
        self.since.ids().for_each(|cpu| self.book(cpu));
    }

    fn loops(machine: &str, siblings: u8, rules: spec::Credit2, domains: &[Domain]) -> Self {
        let mut host = Self::new(machine, siblings, rules, domains);
        (0..host.ran.len() as u32).for_each(|vp| host.wake(vp));
        host.run_until(10_000 * MS);
        host
    }

    /// Share of the machine that a range of units has had.
    fn share(&self, units: std::ops::Range<usize>) -> f64 {
        let all = self.since.len() as u64 * self.now;
        self.ran.iter().as_slice()[units].iter().sum::<u64>() as f64 / all as f64
    }
}

fn rules() -> spec::Credit2 {
    spec::Credit2::default()
}

fn near(value: f64, wanted: f64) -> bool {
    (value - wanted).abs() < 0.01
}

#[test]
fn loops_share_by_weight() {
    let host = Host::loops(
        "chip:1 core:1",
        1,
        rules(),
        &[domain(1, 512), domain(1, 256)],
    );
    assert!(near(host.share(0..1), 2.0 / 3.0), "{}", host.share(0..1));
    let host = Host::loops(
        "chip:1 core:2",
        1,
        rules(),
        &[domain(2, 512), domain(2, 256)],
    );
    assert!(near(host.share(0..2), 2.0 / 3.0), "{}", host.share(0..2));
    assert_eq!(host.idle_ns, 0);
}

#[test]
fn one_unit_has_one_processor_at_most_and_the_others_the_rest() {
    let host = Host::loops(
        "chip:1 core:2",
        1,
        rules(),
        &[domain(1, 1024), domain(2, 128)],
    );
    assert!(near(host.share(0..1), 0.5), "{}", host.share(0..1));
    assert!(near(host.share(1..3), 0.5));
}

#[test]
fn caps_hold_over_periods() {
    for (cap, units) in [(0.25, 1), (0.5, 2), (1.5, 4)] {
        let capped = Domain {
            cap: Some(cap),
            ..domain(units, 256)
        };
        let host = Host::loops("chip:1 core:2", 1, rules(), &[capped, domain(2, 256)]);
        let had = 2.0 * host.share(0..units);
        let fair = units as f64 * 2.0 / (units + 2) as f64;
        assert!(near(had, cap.min(fair)), "{cap} cores of {units}: {had}");
        let count = host.scheduler.counted(PartitionId::new(0), host.now);
        assert_eq!(count.periods, 999);
        if cap < fair {
            assert!(
                count.throttled_ns > 0 && count.throttled_periods > 900,
                "{count:?}"
            );
        }
    }
}

#[test]
fn a_capped_domain_alone_leaves_the_rest_idle() {
    let capped = Domain {
        cap: Some(0.5),
        ..domain(2, 256)
    };
    let host = Host::loops("chip:1 core:2", 1, rules(), &[capped]);
    assert!(
        near(2.0 * host.share(0..2), 0.5),
        "{}",
        2.0 * host.share(0..2)
    );
    let count = host.scheduler.counted(PartitionId::new(0), host.now);
    assert_eq!(count.throttled_periods, count.periods);
}

#[test]
fn run_queues_even_out() {
    // Five loops on two queues of two: 3 + 2, then swapped in turn.
    let rules = spec::Credit2 {
        runqueue: RunQueues::Socket,
        ..rules()
    };
    let host = Host::loops("node:2 chip:1 core:2", 1, rules, &[domain(5, 256)]);
    assert_eq!(host.idle_ns, 0);
    for vp in 0..5 {
        assert!(host.share(vp..vp + 1) > 0.15, "{:?}", host.ran);
    }
    assert!(
        host.scheduler
            .counted(PartitionId::new(0), host.now)
            .migrations
            > 0
    );
}

#[test]
fn pinned_units_stay() {
    let pins = vec![vec![1], vec![1], vec![0, 1]];
    let pinned = Domain {
        pins: &pins,
        ..domain(3, 256)
    };
    let host = Host::loops("chip:1 core:2", 1, rules(), &[pinned]);
    assert!(near(host.share(0..2), 0.5), "{:?}", host.ran);
    assert!(near(host.share(2..3), 0.5), "{:?}", host.ran);
}

/// Xen's rules, with whoever is relieved counted for the next look or not.
fn counting(outgoing: bool) -> spec::Credit2 {
    spec::Credit2 {
        outgoing_counts: outgoing,
        ..rules()
    }
}

/// What was said of both: two that are equal relieve each other every 10 ms, and much sooner where
/// the credit of who was relieved counts.
#[test]
fn two_relieve_each_other_sooner_where_who_was_relieved_counts() {
    let switches = [false, true].map(|counts| {
        let host = Host::loops("chip:1 core:1", 1, counting(counts), &[domain(2, 256)]);
        assert!(near(host.share(0..1), 0.5), "{:?}", host.ran);
        host.switches
    });
    assert!((950..1_100).contains(&switches[0]), "{switches:?}");
    assert!((4_000..10_000).contains(&switches[1]), "{switches:?}");
}

/// Nobody but its own processor looks for one that is pinned, and that one looks too late.
#[test]
fn a_pinned_unit_has_its_share_only_where_who_was_relieved_counts() {
    let pins = vec![vec![0]];
    let had = [false, true].map(|counts| {
        let pinned = Domain {
            pins: &pins,
            ..domain(1, 256)
        };
        let host = Host::loops(
            "chip:1 core:4",
            1,
            counting(counts),
            &[pinned, domain(4, 256)],
        );
        4.0 * host.share(0..1)
    });
    assert!(had[0] < 0.6 && (had[1] - 0.8).abs() < 0.04, "{had:?}");
}

#[test]
fn whole_cores_are_filled_first() {
    let mut host = Host::new("chip:1 core:4", 2, rules(), &[domain(4, 256)]);
    host.scheduler
        .units
        .iter_mut()
        .for_each(|unit| unit.cpu = CoreId::new(0));
    (0..4).for_each(|vp| host.wake(vp));
    let units = host.scheduler.units.iter();
    let cpus: Vec<usize> = units.map(|unit| unit.cpu.index()).collect();
    assert_eq!(cpus, [0, 2, 1, 3]);
}

/// Within the rate limit nobody is tickled: the waker waits until the runner's timer ends.
#[test]
fn a_waking_unit_preempts_after_the_rate_limit_only() {
    let mut host = Host::new("chip:1 core:1", 1, rules(), &[domain(2, 256)]);
    host.wake(0);
    host.run_until(2 * MS);
    host.wake(1);
    assert_eq!(host.runner(), Some(1));
    host.sleep(1);
    assert_eq!(host.runner(), Some(0));
    host.run_until(5 * MS / 2);
    host.wake(1);
    assert_eq!(host.runner(), Some(0));
    host.run_until(9 * MS);
    assert_eq!(host.runner(), Some(0));
    host.run_until(11 * MS);
    assert_eq!(host.runner(), Some(1));
}

#[test]
fn everybody_gets_credit_when_the_first_has_none() {
    let mut host = Host::new("chip:1 core:1", 1, rules(), &[domain(2, 256)]);
    (0..2).for_each(|vp| host.wake(vp));
    host.run_until(19 * MS);
    let credit = |host: &Host| -> i64 { host.scheduler.units.iter().map(|u| u.credit).sum() };
    assert!(credit(&host) < 2 * CREDIT);
    host.run_until(25 * MS);
    assert!(credit(&host) > 0);
    assert!(host
        .scheduler
        .units
        .iter()
        .all(|unit| unit.credit <= CREDIT + 500_000));
}

#[test]
fn one_that_yields_makes_room_within_the_rate_limit() {
    let mut host = Host::new("chip:1 core:1", 1, rules(), &[domain(2, 256)]);
    (0..2).for_each(|vp| host.wake(vp));
    assert_eq!(host.runner(), Some(0));
    host.now = MS / 10;
    assert!(!host
        .scheduler
        .yield_to(VpId::new(1), VpId::new(0), host.now));
    assert!(host
        .scheduler
        .yield_to(VpId::new(0), VpId::new(1), host.now));
    host.serve();
    assert_eq!(host.runner(), Some(1));
}

/// Which processors its units, of this one on, are on.
fn places(host: &Host, from: usize) -> Vec<usize> {
    let units = host.scheduler.units.iter().skip(from);
    units.map(|unit| unit.cpu.index()).collect()
}

/// A domain of units that prefer these processors.
fn soft(pins: &[Vec<u16>]) -> Domain<'_> {
    Domain {
        soft_pins: pins,
        ..domain(pins.len(), 256)
    }
}

#[test]
fn a_unit_runs_where_it_prefers_to_while_there_is_room() {
    let (rules, pins) = (rules(), vec![vec![2, 3]; 2]);
    let mut host = Host::new("chip:1 core:4", 1, rules, &[soft(&pins)]);
    (0..2).for_each(|vp| host.wake(vp));
    let mut there = places(&host, 0);
    there.sort_unstable();
    assert_eq!(there, [2, 3]);
}

#[test]
fn more_than_there_is_room_for_run_elsewhere_and_lose_nothing() {
    let (rules, pins) = (rules(), vec![vec![3]; 4]);
    let host = Host::loops("chip:1 core:4", 1, rules, &[soft(&pins)]);
    assert_eq!(host.idle_ns, 0);
    assert!((0..4).all(|unit| near(host.share(unit..unit + 1), 0.25)));
}

#[test]
fn one_that_is_elsewhere_comes_back_when_room_is_made() {
    let (rules, pins) = (rules(), vec![vec![0]]);
    // One that is at home everywhere sits on the processor that the other one prefers.
    let mut host = Host::new("chip:1 core:2", 1, rules, &[domain(1, 256), soft(&pins)]);
    (0..2).for_each(|vp| host.wake(vp));
    assert_eq!(places(&host, 0), [0, 1]);
    host.run_until(5 * MS);
    host.sleep(0);
    host.run_until(20 * MS);
    assert_eq!(places(&host, 1), [0]);
}

#[test]
fn a_preference_for_all_or_for_none_that_may_be_used_makes_no_difference() {
    let everywhere = Aside::new(None, Some(CpuSet::of(2, [0, 1].map(CoreId::new))), 2);
    let hard = || Some(CpuSet::of(2, [CoreId::new(0)]));
    let nowhere = Aside::new(hard(), Some(CpuSet::of(2, [CoreId::new(1)])), 2);
    let both = Aside::new(hard(), hard(), 2);
    assert!(![everywhere, nowhere, both].iter().any(Aside::prefers));
}

#[test]
fn units_of_two_domains_keep_to_their_own_sides() {
    let rules = spec::Credit2 {
        runqueue: RunQueues::All,
        ..rules()
    };
    let (left, right) = (vec![vec![0, 1]; 2], vec![vec![2, 3]; 2]);
    let mut host = Host::new("chip:1 core:4", 1, rules, &[soft(&right), soft(&left)]);
    (0..4).for_each(|vp| host.wake(vp));
    host.run_until(100 * MS);
    let there = places(&host, 0);
    assert!(there[..2].iter().all(|cpu| *cpu >= 2), "{there:?}");
    assert!(there[2..].iter().all(|cpu| *cpu < 2), "{there:?}");
}
