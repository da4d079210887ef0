//! Whose threads run beside a partition's on the cores of a host: shares of who is there, by the
//! time for which each is busy. Where they all do the same work they need not be told apart.

use crate::cost::{Class, Fixed, Others, Place, Times};
use crate::steady::layout::form::Form;
use crate::steady::layout::host::{Host, Unit};
use crate::steady::layout::state::{Doing, Met, Site, State};

impl State {
    /// Whose threads each partition finds beside its own, by chip.
    pub(in crate::steady) fn find_company(&mut self, forms: &[&Form]) {
        let Some(host) = self.host.as_ref().filter(|host| host.siblings > 1) else {
            return;
        };
        if forms.iter().all(|form| is_like(form, forms[0])) {
            return;
        }
        let kinds = kinds(forms);
        for partition in 0..forms.len() {
            let mut sites = std::mem::take(&mut self.doing[partition].sites);
            let of = |site: &Site| met(host, &self.doing, (forms, &kinds, partition), site.chip);
            let found: Vec<_> = sites.iter().map(of).collect();
            for (site, found) in sites.iter_mut().zip(found) {
                site.company = found;
            }
            self.doing[partition].sites = sites;
        }
    }

    /// What an instruction costs at a site beside others, where so many are busy on the core: of
    /// two the mean over those that may be the other one. More are taken to be one mean of all.
    pub(in crate::steady) fn price_beside(
        &self,
        (place, fixed): (&Place, &Fixed),
        site: &Site,
        threads: usize,
    ) -> Class {
        let of = |times: Option<Times>| {
            let mut class = Class::default();
            class.set_beside(place, fixed, times.map_or(Others::Alike, Others::Mean));
            class
        };
        let all = || site.company.iter();
        if threads != 2 {
            return of(self.beside_at(site, all(), threads));
        }
        let kinds = 0..all().map(|met| met.kind + 1).max().unwrap_or(0);
        let parts: Vec<(f64, Class)> = kinds
            .filter_map(|kind| {
                let some = all().filter(|met| met.kind == kind);
                let share: f64 = some.clone().map(|met| met.share).sum();
                (share > 0.0).then(|| (share, of(self.beside_at(site, some, threads))))
            })
            .collect();
        Class::mean(parts.iter().map(|(share, class)| (*share, class)))
    }

    /// What these are on average to a thread that is beside them at a site, where so many are busy
    /// on its core; none while that is not known.
    fn beside_at<'a>(
        &self,
        site: &Site,
        company: impl Iterator<Item = &'a Met>,
        threads: usize,
    ) -> Option<Times> {
        let (mut sum, mut all) = (Times::default(), 0.0);
        for met in company {
            let there = &self.doing[met.who].sites;
            let other = there.iter().find(|other| other.chip == site.chip);
            let other = other.map(|other| other.twin.map_or(other, |twin| &there[twin]));
            let known = other.and_then(|other| known(other, threads));
            // Its own sites are with whoever asks.
            let times = known.or_else(|| self::known(site, threads))?;
            sum.add_scaled(&times, met.share / times.base);
            all += met.share;
        }
        let mut mean = Times::default();
        mean.add_scaled(&sum, 1.0 / all);
        (all > 0.0).then_some(mean)
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

/// The first partition that does the same, of each.
pub(in crate::steady) fn kinds(forms: &[&Form]) -> Vec<usize> {
    let of = |(at, form): (usize, &&Form)| {
        let mut before = forms[..at].iter().filter(|_| form.workloads.is_empty());
        before.position(|other| is_like(other, form)).unwrap_or(at)
    };
    forms.iter().enumerate().map(of).collect()
}

/// Who is beside a partition's threads on a chip; nobody where all are its like.
fn met(
    host: &Host,
    doing: &[Doing],
    (forms, kinds, own): (&[&Form], &[usize], usize),
    chip: usize,
) -> Vec<Met> {
    let mut found = vec![0.0; kinds.len()];
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
                    found[other] += weight * beside * busy * there;
                });
            }
        }
    }
    told(&found, (forms, kinds, own))
}

/// Partitions that a partition's threads are beside for such times; nobody where all are its like.
pub(in crate::steady) fn told(
    found: &[f64],
    (forms, kinds, own): (&[&Form], &[usize], usize),
) -> Vec<Met> {
    let all: f64 = found.iter().sum();
    let some = found.iter().enumerate().filter(|(_, of)| **of > 1e-9 * all);
    let some: Vec<_> = some
        .map(|(who, of)| Met {
            who,
            share: of / all,
            kind: kinds[who],
        })
        .collect();
    if some.iter().all(|met| is_like(forms[met.who], forms[own])) {
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
pub(in crate::steady) fn each_on(
    host: &Host,
    (lot, chip): (usize, usize),
    mut each: impl FnMut(usize, f64),
) {
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
