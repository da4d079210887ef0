//! Shares of a host's processors: by weight from the root of the control groups down, within
//! quotas, caps and the sets that threads may use.

use super::demand::Arrivals;
use super::form::Form;
use super::host::Host;
use super::overflow::mean_beyond;
use super::state::{Doing, State};
use crate::hypervisor::policies::{quota, share_out, Member};

impl State {
    /// Whose threads have to wait for processors, and for how much of the time; by how much that
    /// changed.
    pub(super) fn share_host(&mut self, forms: &[&Form]) -> f64 {
        let Some(host) = &self.host else { return 0.0 };
        let wants: Vec<f64> = self
            .doing
            .iter()
            .zip(forms)
            .map(|(doing, form)| wants(doing, form).min(form.threads.cap))
            .collect();
        let mut granted = vec![0.0; forms.len()];
        let mut waits = vec![0.0; forms.len()];
        for lot in 0..host.lots.len() {
            share_lot(
                host,
                (lot, forms),
                (&self.doing, &wants),
                &mut granted,
                &mut waits,
            );
        }
        let mut change = 0.0_f64;
        for (at, doing) in self.doing.iter_mut().enumerate() {
            let vps = doing.load.vps.max(1e-12);
            let crowded = 1.0 - (waits[at] / vps).min(0.9);
            let served = if wants[at] > granted[at] + 1e-9 || forms[at].threads.cap < vps {
                (granted[at] / vps).min(crowded)
            } else {
                crowded
            };
            let before = doing.served;
            doing.served += 0.5 * self.pace * (served.clamp(1e-6, 1.0) - before);
            change = change.max((doing.served - before).abs() / before);
        }
        self.leave_processors();
        change
    }

    /// Polling takes what work leaves of the processors.
    fn leave_processors(&mut self) {
        let Some(host) = &mut self.host else { return };
        let of = |doing: &Doing| (doing.served * doing.load.vps, doing.beside);
        let all = self.doing.iter().map(of);
        let (worked, beside) = all.fold((0.0, 0.0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
        let cpus: f64 = host.lots.iter().map(|lot| lot.cpus).sum();
        let room = (cpus - worked).max(0.0) * host.room / beside.max(1e-12);
        host.room += 0.5 * (room.clamp(1e-3, 1.0) - host.room);
    }
}

/// What a partition's threads want.
fn wants(doing: &Doing, form: &Form) -> f64 {
    if matches!(form.demand.arrivals, Arrivals::Open(_)) && !doing.load.overrun {
        doing.cores()
    } else {
        doing.load.vps
    }
}

/// Shares one lot out.
fn share_lot(
    host: &Host,
    (lot, forms): (usize, &[&Form]),
    (doing, wants): (&[Doing], &[f64]),
    granted: &mut [f64],
    waits: &mut [f64],
) {
    let units: Vec<(usize, f64)> = host
        .units
        .iter()
        .flat_map(|unit| {
            let here = unit.lots.iter().filter(|(of, _)| *of == lot);
            here.map(|(_, part)| (unit.partition, unit.share * part))
        })
        .collect();
    let cores = host.lots[lot].cpus;
    let member = |(partition, share): &(usize, f64)| Member {
        group: forms[*partition].threads.group,
        weight: (forms[*partition].threads.weight * share * doing[*partition].load.vps).max(1e-9),
        most: share * wants[*partition],
    };
    let members: Vec<Member> = units.iter().map(member).collect();
    let rooms: Vec<f64> = (0..host.cgroups.len())
        .map(|group| quota(&host.cgroups[group]) * part_of(host, forms, wants, (group, &members)))
        .collect();
    let shares = share_out(&host.cgroups, &rooms, &members, cores);
    let (mut mean, mut variance, mut most) = (0.0, 0.0, 0.0);
    for ((partition, share), got) in units.iter().zip(&shares) {
        granted[*partition] += got;
        let (load, form) = (&doing[*partition].load, forms[*partition]);
        let served = load.vps.min(form.threads.cap);
        mean += share * served;
        variance += share * load.vps_variance;
        most += share * f64::from(form.filled.vps());
    }
    // What more want than there are processors for by chance, not always, all lose alike.
    if most > cores {
        let by_chance = mean_beyond(mean, variance, cores) - (mean - cores).max(0.0);
        for (partition, share) in &units {
            waits[*partition] += by_chance * share * doing[*partition].load.vps / mean.max(1e-9);
        }
    }
}

/// The part of what a group wants that it wants here: so much of its quota counts here.
fn part_of(
    host: &Host,
    forms: &[&Form],
    wants: &[f64],
    (group, members): (usize, &[Member]),
) -> f64 {
    let is_within = |mut of: Option<u16>| {
        while let Some(at) = of {
            if usize::from(at) == group {
                return true;
            }
            of = host.cgroups[usize::from(at)].parent;
        }
        false
    };
    let here: f64 = members
        .iter()
        .filter(|member| is_within(member.group))
        .map(|member| member.most)
        .sum();
    let all: f64 = forms
        .iter()
        .zip(wants)
        .filter(|(form, _)| is_within(form.threads.group))
        .map(|(_, wants)| wants)
        .sum();
    if all > 0.0 {
        here / all
    } else {
        1.0
    }
}
