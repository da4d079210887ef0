//! What two runs say of each other.

use std::thread;

use crate::common::known::not_yet;
use crate::common::platform::Platform::{Credit2, Dedicated};
use crate::common::race::{Race, Runner};
use crate::common::random::races;
use crate::common::{run, scenarios, Outcome, Scenario, Table};
use crate::random;
use homenode_engine::sim::{columns, Summary};
use homenode_engine::spec::Spec;

fn bytes(outcome: &Outcome) -> String {
    format!("{outcome:?}")
}

/// Nothing but spec, seed and replication makes a run: no clock, no global, no other thread.
fn the_same_comes_out_on_one_thread_and_on_many(Scenario(spec): &Scenario) {
    let alone: Vec<String> = (0..3)
        .map(|replication| bytes(&run(spec, replication)))
        .collect();
    let beside = thread::scope(|scope| {
        let start = |replication| scope.spawn(move || bytes(&run(spec, replication)));
        let all: Vec<_> = (0..3).map(start).collect();
        all.into_iter()
            .map(|one| one.join().expect("a sound spec"))
            .collect::<Vec<_>>()
    });
    assert!(
        alone == beside,
        "replications differ with the thread they run on"
    );
}

/// Looking at the counters changes none of them. Parts of a whole are amended interval by interval,
/// so that only their whole adds up.
pub fn an_interval_twice_as_long_adds_up(Scenario(spec): &Scenario) {
    let twice = Spec {
        interval_ns: 2 * spec.interval_ns,
        ..spec.clone()
    };
    let (once, twice) = (run(spec, 0), run(&twice, 0));
    let charged: &[&str] = if not_yet(DAEMONS) { &CHARGED } else { &[] };
    let text = |outcome: &Outcome| without(charged, &outcome.summary);
    assert_eq!(text(&once), text(&twice));
    add_up(&once.partition, &twice.partition, &PARTS);
    add_up(&once.cpu, &twice.cpu, &PARTS);
    add_up(&once.pool, &twice.pool, &[]);
    add_up(&once.virtual_machine, &twice.virtual_machine, &[]);
    add_up(&once.switch, &twice.switch, &[]);
    add_up(&once.volume, &twice.volume, &[]);
    assert_eq!(once.dispatches, twice.dispatches);
}

/// Parts of a whole, which are rounded and amended by the interval.
const PARTS: [&str; 9] = [
    "user_ns", "sys_ns", "idle_ns", "suser_ns", "ssys_ns", "sidle_ns", "ticks_", "lines_", "book_",
];
/// Those into which busy time is parted by who was charged.
const CHARGED: [&str; 7] = [
    "user_ns", "sys_ns", "idle_ns", "suser_ns", "ssys_ns", "sidle_ns", "ticks_",
];
const DAEMONS: &str = "user and kernel time beside daemons";

fn is_of(parts: &[&str], name: &str) -> bool {
    parts.iter().any(|part| name.starts_with(part))
}

/// A summary as text, with some of its totals left out.
fn without(parts: &[&str], summary: &Summary) -> String {
    let mut summary = summary.clone();
    for partition in &mut summary.partitions {
        if not_yet("share of busy virtual processors") {
            partition.vp_busy_share = 0.0;
        }
        let named = columns::partition().into_iter().zip(&mut partition.totals);
        named
            .filter(|(name, _)| is_of(parts, name))
            .for_each(|(_, total)| *total = 0);
    }
    format!("{summary:?}")
}

fn add_up(short: &Table, long: &Table, parts: &[&str]) {
    let (short, rows): (Vec<_>, Vec<_>) = (short.rows().collect(), long.rows().collect());
    let Some(first) = rows.first() else {
        return;
    };
    let owners = rows.iter().take_while(|row| row[0] == first[0]).count();
    for (at, row) in rows.iter().enumerate() {
        let (interval, owner) = (at / owners, at % owners);
        let half = |half: usize| short.get((2 * interval + half) * owners + owner);
        for (column, value) in row.iter().enumerate() {
            let name = long.name(column);
            let (one, other) = (
                half(0).expect("a row")[column],
                half(1).map(|row| row[column]),
            );
            if columns::GAUGES.contains(&name) {
                assert_eq!(other.unwrap_or(one), *value, "{name} at {} ns", row[0]);
            } else if !is_of(parts, name) {
                assert_eq!(one + other.unwrap_or(0), *value, "{name} at {} ns", row[0]);
            }
        }
    }
}

/// Core time by which others may gain [cores]: a turn at either end of ten seconds.
const GAIN: f64 = 2e-3;

/// Who comes takes from the others, or from nobody.
fn a_competitor_more_helps_nobody(race: &Race) {
    let mut more = race.clone();
    let mut one = race.runners[0];
    one.entitled = one.entitled.min(0.1 * f64::from(race.capacity()));
    more.runners.push(one);
    let threads: u16 = more.runners.iter().map(|one| one.threads).sum();
    let no_room = race.platform == Dedicated && threads > race.capacity();
    if no_room || !race.promises_shares() || !more.promises_shares() {
        return;
    }
    // Under Xen chance decides who waits when all run out of credit at once: as in `shares.rs`.
    let luck = if race.platform == Credit2 { 0.08 } else { 0.0 };
    let before = race.used(&run(&race.spec(), 0));
    let after = more.used(&run(&more.spec(), 0));
    let gains = before
        .iter()
        .zip(&after)
        .any(|(before, after)| *after > before * (1.0 + luck) + GAIN);
    assert!(!gains, "{before:?}, and {after:?} beside one more");
}

/// A core more on each chip is no less work done, but for what more threads on a chip take of its
/// cache.
fn a_core_more_does_no_less(race: &Race) {
    let mut more = race.clone();
    more.cores += 1;
    let (was, is) = (race.capacity(), more.capacity());
    if race.bound {
        let rebind = |one: &mut Runner| one.threads = one.threads / was * is;
        more.runners.iter_mut().for_each(rebind);
    }
    let done = |race: &Race| Race::done(&run(&race.spec(), 0));
    let (before, after) = (done(race), done(&more));
    let allowed = if race.missing { 0.99 } else { 1.0 };
    assert!(
        after >= allowed * before,
        "{before} instructions on {was} cores, {after} on {is}"
    );
}

mod threads {
    use super::*;

    random! {
        scenarios => the_same_comes_out_on_one_thread_and_on_many;
        powervm: PowerVm, 8;
        prsm: PrSm, 8;
        cores_of_ones_own: Dedicated, 8;
        zvm: Zvm, 8;
        linux: Linux, 8;
        xen: Credit2, 8;
    }
}

mod intervals {
    use super::*;

    random! {
        scenarios => an_interval_twice_as_long_adds_up;
        powervm: PowerVm, 24;
        prsm: PrSm, 24;
        cores_of_ones_own: Dedicated, 24;
        zvm: Zvm, 24;
        linux: Linux, 24;
        xen: Credit2, 24;
    }
}

mod competitors {
    use super::*;

    random! {
        races => a_competitor_more_helps_nobody;
        powervm: PowerVm, 16;
        prsm: PrSm, 16;
        cores_of_ones_own: Dedicated, 16;
        zvm: Zvm, 16;
        linux: Linux, 16;
        xen: Credit2, 16;
    }
}

mod cores {
    use super::*;

    random! {
        races => a_core_more_does_no_less;
        powervm: PowerVm, 16;
        prsm: PrSm, 16;
        cores_of_ones_own: Dedicated, 16;
        zvm: Zvm, 16;
        linux: Linux, 16;
        xen: Credit2, 16;
    }
}
