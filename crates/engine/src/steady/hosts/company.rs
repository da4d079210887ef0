//! Whose threads run beside a partition's on the cores of a host: shares of who is there, by the
//! time for which each is busy. Where they all do the same work they need not be told apart.

use crate::cost::Times;
use crate::steady::hosts::stops::together;
use crate::steady::layout::form::Form;
use crate::steady::layout::host::{Host, Unit};
use crate::steady::layout::state::{Doing, Site, State};

impl State {
    /// Whose threads each partition finds beside its own, by chip.
    pub(in crate::steady) fn find_company(&mut self, forms: &[&Form]) {
        let Some(host) = self.host.as_ref().filter(|host| host.siblings > 1) else {
            return;
        };
        if forms.iter().all(|form| is_like(form, forms[0])) {
            return;
        }
        for partition in 0..forms.len() {
            let mut sites = std::mem::take(&mut self.doing[partition].sites);
            let of = |site: &Site| met(host, &self.doing, (forms, partition), site.chip);
            let found: Vec<_> = sites.iter().map(of).collect();
            for (site, found) in sites.iter_mut().zip(found) {
                site.company = found;
            }
            self.doing[partition].sites = sites;
        }
    }

    /// What those that are beside a thread at a site are to it on average, where so many are busy
    /// on its core; none while that is not known, or where all are its like.
    pub(in crate::steady) fn beside_at(&self, site: &Site, threads: usize) -> Option<Times> {
        let mut mean = Times::default();
        for (partition, share) in &site.company {
            let times = self.times_of(*partition, site, threads)?;
            mean.add_scaled(&times, share / times.base);
        }
        (mean.base > 0.0).then_some(mean)
    }

    /// What a partition's threads are to one at a site, if that is known.
    pub(in crate::steady) fn times_of(
        &self,
        partition: usize,
        site: &Site,
        threads: usize,
    ) -> Option<Times> {
        let there = &self.doing[partition].sites;
        let other = there.iter().find(|other| other.chip == site.chip);
        let other = other.map(|other| other.twin.map_or(other, |twin| &there[twin]));
        let known = other.and_then(|other| known(other, threads));
        // Its own sites are with whoever asks.
        known.or_else(|| self::known(site, threads))
    }
}

/// What a thread at a site is to others, if that is known.
fn known(site: &Site, threads: usize) -> Option<Times> {
    let times = site.times.get(threads).copied();
    times.filter(|times| times.base > 0.0)
}

fn is_like(one: &Form, other: &Form) -> bool {
    one.workloads.is_empty() && one.partition.profile == other.partition.profile
}

/// Who is beside a partition's threads on a chip, with their shares; nobody where all are its like.
fn met(
    host: &Host,
    doing: &[Doing],
    (forms, own): (&[&Form], usize),
    chip: usize,
) -> Vec<(usize, f64)> {
    let mut found = vec![0.0; forms.len()];
    for unit in host.units.iter().filter(|unit| unit.partition == own) {
        for (lot, _) in &unit.lots {
            let weight = on_chip(host, unit, *lot, chip);
            let around = host.lots[*lot].beside.iter().enumerate();
            for (lot, beside) in around.filter(|(_, beside)| weight * **beside > 0.0) {
                each_on(host, (lot, chip), |other, share| {
                    let busy = share * doing[other].cores();
                    let there = if other == own {
                        again(&doing[own])
                    } else {
                        1.0
                    };
                    let now = together(host, (doing, forms), own, other);
                    found[other] += weight * beside * busy * there * now;
                });
            }
        }
    }
    let all: f64 = found.iter().sum();
    let some = found
        .into_iter()
        .enumerate()
        .filter(|(_, of)| *of > 1e-9 * all);
    let some: Vec<_> = some.map(|(other, of)| (other, of / all)).collect();
    if some
        .iter()
        .all(|(other, _)| is_like(forms[*other], forms[own]))
    {
        return Vec::new();
    }
    some
}

/// Share of a partition's time that those of a unit are on the processors of a lot on a chip.
fn on_chip(host: &Host, unit: &Unit, lot: usize, chip: usize) -> f64 {
    let seat = unit.seats.iter().find(|(at, _)| *at == chip);
    seat.map_or(0.0, |seat| unit.share * host.both(unit, lot, *seat))
}

/// Who uses the processors of a lot on a chip, with the share of its time there for each of them.
fn each_on(host: &Host, (lot, chip): (usize, usize), mut each: impl FnMut(usize, f64)) {
    let there = host.lots[lot].on.iter().find(|(at, _)| *at == chip);
    let Some((_, cpus)) = there else { return };
    for unit in &host.units {
        for of in unit.lots.iter().filter(|of| of.0 == lot) {
            each(
                unit.partition,
                on_chip(host, unit, of.0, chip) / cpus.max(1e-9),
            );
        }
    }
}

/// How often others of a partition are busy while one of them is, in proportion to their mean.
fn again(doing: &Doing) -> f64 {
    let (mean, variance) = (doing.load.vps, doing.load.vps_variance);
    let pairs = variance + mean * mean - mean;
    (pairs / (mean * mean).max(1e-18)).clamp(0.0, 1.0)
}
