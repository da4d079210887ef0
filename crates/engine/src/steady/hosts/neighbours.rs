//! Whom those find on their cores that keep a processor for good: always the same.

use crate::cost::{Class, Fixed, Others, Place, Times};
use crate::steady::layout::host::Host;
use crate::steady::layout::state::{Crowd, Neighbours, Site, State};
use crate::steady::queues::filling::THREADS;

impl State {
    /// Whether all that run on a host have their processors for good.
    pub(in crate::steady) fn is_kept(&self) -> bool {
        self.host.as_ref().is_some_and(|host| !host.kept.is_empty())
    }

    /// What is found there in place of what is told by chance.
    pub(in crate::steady) fn find_neighbours(&mut self) {
        let Some(host) = self.host.as_ref().filter(|host| !host.kept.is_empty()) else {
            return;
        };
        for partition in 0..self.doing.len() {
            for site in &mut self.doing[partition].sites {
                site.beside = host.neighbours(partition, site.chip);
                site.by_number.clear(); // As many have work at all times.
                site.crowd = site
                    .crowd
                    .map(|crowd| of_all(&site.beside).unwrap_or(crowd));
            }
        }
    }

    /// What an instruction costs at a site whose threads keep their processors, where so many are
    /// busy on the core; none where that is so on none of theirs.
    pub(in crate::steady) fn price_kept(
        &self,
        (place, fixed): (&Place, &Fixed),
        site: &Site,
        threads: usize,
    ) -> Option<Class> {
        let all = site.beside.iter().filter(|_| self.is_kept());
        let priced = all.filter(|of| of.who.len() + 1 == threads).map(|of| {
            let times = of.who.iter().map(|who| self.times_of(*who, site, threads));
            let times: Option<Vec<Times>> = times.collect();
            let mut class = Class::default();
            let others = times.as_deref().map_or(Others::Alike, Others::Each);
            class.set_beside(place, fixed, others);
            (of.share, class)
        });
        let priced: Vec<(f64, Class)> = priced.collect();
        let each = priced.iter().map(|(share, class)| (*share, class));
        (!priced.is_empty()).then(|| Class::mean(each))
    }
}

impl Host {
    /// Whom a partition's threads find on their cores of a chip.
    fn neighbours(&self, partition: usize, chip: usize) -> Vec<Neighbours> {
        let own = |cpu: &usize| self.kept[*cpu] == Some(partition) && self.chips[*cpu] == chip;
        let cpus: Vec<usize> = (0..self.kept.len()).filter(own).collect();
        let mut found: Vec<Neighbours> = Vec::new();
        for cpu in &cpus {
            let mut who: Vec<usize> = self.beside(&self.kept, *cpu).collect();
            who.sort_unstable();
            let share = 1.0 / cpus.len() as f64;
            match found.iter_mut().find(|of| of.who == who) {
                Some(of) => of.share += share,
                None => found.push(Neighbours { who, share }),
            }
        }
        found
    }
}

/// The share of the time by how many are busy; none where nobody keeps a processor.
fn of_all(neighbours: &[Neighbours]) -> Option<Crowd> {
    let mut crowd = [0.0; THREADS];
    let each = neighbours.iter();
    each.for_each(|of| crowd[of.who.len() + 1] += of.share);
    (!neighbours.is_empty()).then_some(crowd)
}
