//! Whom those find on their core that keep a processor for good: the others that keep one of its
//! processors, always the same, and on those that nobody keeps who comes and goes.

use crate::steady::hosts::company::{each_on, kinds, told};
use crate::steady::layout::form::Form;
use crate::steady::layout::host::Host;
use crate::steady::layout::state::{Crowd, Doing, State};
use crate::steady::queues::filling::THREADS;

/// Whom a partition's threads find on their cores of a chip.
struct Neighbours {
    /// Share of their time by how many are busy on the core, itself included.
    crowd: Crowd,
    /// By partition, for how much of their time each is there.
    by: Vec<f64>,
}

impl State {
    /// What is found there in place of what is told by chance.
    pub(in crate::steady) fn find_neighbours(&mut self, forms: &[&Form]) {
        let Some(host) = self.host.as_ref().filter(|host| host.siblings > 1) else {
            return;
        };
        let kinds = kinds(forms);
        for partition in 0..forms.len() {
            let mut sites = std::mem::take(&mut self.doing[partition].sites);
            for site in &mut sites {
                if let Some(found) = host.neighbours(&self.doing, (partition, site.chip)) {
                    site.crowd = Some(found.crowd);
                    site.company = told(&found.by, (forms, &kinds, partition));
                }
            }
            self.doing[partition].sites = sites;
        }
    }
}

impl Host {
    /// Whom a partition's threads find that keep processors of a chip; none where none does.
    fn neighbours(&self, doing: &[Doing], (partition, chip): (usize, usize)) -> Option<Neighbours> {
        let lot_of = |cpu: usize| {
            let has = |lot: &[u16]| lot.binary_search(&(cpu as u16)).is_ok();
            self.lots.iter().position(|lot| has(&lot.members))
        };
        let mut found = Neighbours {
            crowd: [0.0; THREADS],
            by: vec![0.0; doing.len()],
        };
        let mut count = 0.0;
        for cpu in self
            .kept_on(chip)
            .filter(|cpu| self.kept[*cpu] == Some(partition))
        {
            let mut crowd = [0.0; THREADS];
            crowd[1] = 1.0;
            let own = lot_of(cpu);
            for other in self.beside_cpu(cpu) {
                let busy = match (self.kept[other], lot_of(other)) {
                    (Some(kept), _) => {
                        let busy = doing[kept].served.min(1.0);
                        found.by[kept] += busy;
                        busy
                    }
                    (None, Some(lot)) => self.come_and_go(doing, (lot, chip), own, &mut found.by),
                    (None, None) => 0.0,
                };
                for threads in (2..THREADS).rev() {
                    crowd[threads] += busy * (crowd[threads - 1] - crowd[threads]);
                }
                crowd[1] *= 1.0 - busy;
            }
            let sums = found.crowd.iter_mut().zip(crowd);
            sums.for_each(|(sum, share)| *sum += share);
            count += 1.0;
        }
        found.crowd.iter_mut().for_each(|share| *share /= count);
        (count > 0.0).then_some(found)
    }

    /// How often one who comes and goes is on a processor of a lot that nobody keeps.
    fn come_and_go(
        &self,
        doing: &[Doing],
        (lot, chip): (usize, usize),
        own: Option<usize>,
        by: &mut [f64],
    ) -> f64 {
        let found = self
            .left
            .get(lot)
            .and_then(|on| on.iter().find(|(at, _)| *at == chip));
        let Some((_, chances)) = found else {
            return 0.0;
        };
        let busy = chances[usize::from(own != Some(lot))];
        let comes = |partition: usize| !self.kept.contains(&Some(partition));
        let mut each = vec![0.0; by.len()];
        each_on(self, (lot, chip), |partition, share| {
            if comes(partition) {
                each[partition] += share * doing[partition].cores();
            }
        });
        let all: f64 = each.iter().sum();
        let sums = by.iter_mut().zip(each);
        sums.for_each(|(sum, of)| *sum += busy * of / all.max(1e-12));
        busy
    }

    /// Processors of a chip that somebody keeps.
    fn kept_on(&self, chip: usize) -> impl Iterator<Item = usize> + '_ {
        let cpus = self.kept.iter().enumerate();
        let kept = cpus.filter(|(_, kept)| kept.is_some()).map(|(cpu, _)| cpu);
        kept.filter(move |cpu| self.chips[*cpu] == chip)
    }
}
