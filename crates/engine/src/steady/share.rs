//! Whose virtual processors have to wait for cores, and for how much of the time.

use super::demand::Arrivals;
use super::form::Form;
use super::grants::{grants, Claim};
use super::homes::entitled_part;
use super::overflow::mean_beyond;
use super::state::{Doing, State};
use crate::spec::Processors;

impl State {
    /// Whose virtual processors have to wait for cores, and for how much of the time.
    pub(super) fn share(&mut self, forms: &[&Form]) {
        let cores: f64 = self.free.iter().sum();
        let (mut mean, mut variance, mut most) = (0.0, 0.0, 0.0);
        for (doing, form) in self.doing.iter().zip(forms).filter(|(_, form)| !form.owns) {
            mean += doing.load.vps;
            variance += doing.load.vps_variance;
            most += f64::from(form.filled.vps());
        }
        // What more want than there are cores for by chance, not always, those lose that are not
        // entitled to it.
        let by_chance = if most <= cores {
            0.0
        } else {
            mean_beyond(mean, variance, cores) - (mean - cores).max(0.0)
        };
        let excess =
            |doing: &Doing, form: &Form| doing.load.vps * (1.0 - entitled_part(doing, form));
        let pairs = self.doing.iter().zip(forms).filter(|(_, form)| !form.owns);
        let exceeding: f64 = pairs.map(|(doing, form)| excess(doing, form)).sum();
        let claims: Vec<Claim> = self.doing.iter().zip(forms).map(claim).collect();
        let granted = grants(&claims, cores, &self.limits);
        for ((doing, form), (claim, granted)) in self
            .doing
            .iter_mut()
            .zip(forms)
            .zip(claims.iter().zip(&granted))
        {
            if form.owns {
                continue;
            }
            let bound = granted / doing.load.vps.max(1e-12);
            let lost = by_chance * excess(doing, form) / exceeding.max(1e-9);
            let crowded = 1.0 - (lost / doing.load.vps.max(1e-12)).min(0.9);
            let served = if claim.wants > granted + 1e-9 {
                bound.min(crowded)
            } else {
                crowded
            };
            doing.served += 0.5 * (served - doing.served);
            let room = claim.limit - doing.served * doing.load.vps;
            doing.beside = doing.beside.min(room.max(0.0));
        }
        self.leave_room(forms, cores);
    }

    /// What daemons and polling take is at most what work leaves of the shared cores.
    fn leave_room(&mut self, forms: &[&Form], cores: f64) {
        let pairs = || self.doing.iter().zip(forms).filter(|(_, form)| !form.owns);
        let worked: f64 = pairs()
            .map(|(doing, _)| doing.served * doing.load.vps)
            .sum();
        let beside: f64 = pairs().map(|(doing, _)| doing.beside).sum();
        let left = (cores - worked).max(0.0);
        if beside > left {
            for (doing, _) in self
                .doing
                .iter_mut()
                .zip(forms)
                .filter(|(_, form)| !form.owns)
            {
                doing.beside *= left / beside;
            }
        }
    }
}

fn claim((doing, form): (&Doing, &&Form)) -> Claim {
    let wants = if matches!(form.demand.arrivals, Arrivals::Open(_)) && !doing.load.overrun {
        doing.cores()
    } else {
        doing.load.vps
    };
    match &form.partition.processors {
        Processors::Dedicated { .. } => Claim::default(),
        Processors::Shared {
            r#virtual,
            capped,
            weight,
            ..
        } => {
            let vps = f64::from(*r#virtual);
            // A cap by weight holds for each logical core: those without work leave theirs unused.
            let at_work = if form.caps_each {
                (doing.load.vps / vps).min(1.0)
            } else {
                1.0
            };
            let most = if *capped {
                form.entitled * at_work
            } else {
                vps
            };
            Claim {
                wants,
                entitled: form.entitled,
                limit: most.min(form.cap),
                weight: f64::from(*weight),
                group: form.group,
            }
        }
    }
}
