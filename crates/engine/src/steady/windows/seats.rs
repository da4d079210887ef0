//! On which chips threads of a host run: where they were dealt out to.

use crate::ids::ChipId;
use crate::spec::Cgroup;
use crate::steady::hosts::weights::{beside_all, Load};
use crate::steady::layout::form::Form;
use crate::steady::layout::host::Doers;
use crate::steady::layout::state::{Doing, Site, State, NOTHING};

impl State {
    /// On which chips threads of a host run, and beside whom.
    pub(in crate::steady) fn place_host(&mut self, forms: &[&Form]) {
        let Some(host) = &mut self.host else { return };
        let doers = doers(&host.cgroups, &self.doing, forms);
        if host.deal(&self.tree, forms, &doers) {
            for (partition, form) in forms.iter().enumerate() {
                let mut on = vec![0.0; self.tree.chips().len()];
                let units = host.units.iter().filter(|unit| unit.partition == partition);
                for unit in units {
                    let seats = unit.seats.iter();
                    seats.for_each(|(chip, share)| on[*chip] += unit.share * share);
                }
                if on.iter().all(|share| *share <= NOTHING) {
                    // Where no seat is left that one may have, it waits for those at home.
                    form.homes
                        .iter()
                        .for_each(|(chip, share)| on[chip.index()] += share);
                }
                let used = on.iter().enumerate().filter(|(_, share)| **share > NOTHING);
                let sites = used.map(|(chip, share)| Site::new(chip, *share, form));
                for site in &self.doing[partition].sites {
                    let chip = ChipId::new(site.chip);
                    self.spreads[partition].set_work(chip, 0.0, 1.0, 1.0);
                }
                self.doing[partition].sites = sites.collect();
            }
            for (partition, form) in forms.iter().enumerate() {
                self.price(partition, form, true);
            }
        }
        for (doing, form) in self.doing.iter_mut().zip(forms) {
            let (mut home, mut near) = (0.0, 0.0);
            for site in &doing.sites {
                let chip = ChipId::new(site.chip);
                for (at, share) in &form.homes {
                    let by = share * site.share;
                    if *at == chip {
                        home += by;
                    } else if self.tree.node_of(*at) == self.tree.node_of(chip) {
                        near += by;
                    }
                }
            }
            doing.away = [near, (1.0 - home - near).max(0.0)];
        }
        self.crowd(forms);
        self.find_company(forms);
        self.find_neighbours();
    }
}

/// What each partition's threads have to do.
fn doers(cgroups: &[Cgroup], doing: &[Doing], forms: &[&Form]) -> Vec<Doers> {
    let of = |(doing, form): (&Doing, &&Form)| {
        let load = &doing.load;
        let within = doing.quota.min(form.threads.cap);
        // What a quota stops is no load meanwhile.
        let present = (within / load.vps.max(1e-12)).min(1.0);
        let doers = Doers {
            busy: load.vps,
            variance: load.vps_variance,
            most: f64::from(form.filled.vps()),
            polling: doing.polls,
            stay_ns: doing.served * load.vps / load.wakes_per_ns.max(1e-18),
            within,
            weight: 0.0,
        };
        let own = Load {
            pool: 0,
            group: form.threads.group,
            weight: (form.threads.weight * load.vps * present).max(1e-9),
        };
        (doers, own)
    };
    let (mut doers, loads): (Vec<Doers>, Vec<Load>) = doing.iter().zip(forms).map(of).unzip();
    let weights = beside_all(cgroups, &loads);
    for (doers, weight) in doers.iter_mut().zip(weights) {
        doers.weight = weight;
    }
    doers
}
