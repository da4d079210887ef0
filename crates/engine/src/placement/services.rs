//! What services ask for: machines of their own, spread, and others near by.

use super::fault::PlacementFault;
use super::problem::Problem;

/// Of a service that has no row in a table, for it asks for nothing there.
const NONE: u32 = u32::MAX;
/// So many places are looked at sooner than a table of thousands of machines.
const SEEN: usize = 16;

/// How many partitions of a service are in each place of one kind: a row a service that asks.
#[derive(Clone, Debug)]
struct Table {
    row: Vec<u32>,
    width: usize,
    count: Vec<u32>,
}

impl Table {
    fn new(width: usize, asks: impl Iterator<Item = bool>) -> Table {
        let mut rows = 0;
        let mut number = |asks: bool| {
            rows += u32::from(asks);
            if asks {
                rows - 1
            } else {
                NONE
            }
        };
        let row: Vec<u32> = asks.map(&mut number).collect();
        let count = vec![0; rows as usize * width];
        Table { row, width, count }
    }

    /// Where the count of a service in a place stands, if it has one.
    #[inline]
    fn at(&self, service: usize, place: u32) -> Option<usize> {
        let row = self.row[service];
        (row != NONE).then(|| row as usize * self.width + place as usize)
    }

    #[inline]
    fn of(&self, service: usize, place: u32) -> u32 {
        self.at(service, place).map_or(0, |at| self.count[at])
    }

    /// Counts one more; whether it is the first there.
    #[inline]
    fn add(&mut self, service: usize, place: u32) -> bool {
        self.at(service, place).is_some_and(|at| {
            self.count[at] += 1;
            self.count[at] == 1
        })
    }

    /// Counts one less; whether it was the last there.
    #[inline]
    fn remove(&mut self, service: usize, place: u32) -> bool {
        self.at(service, place).is_some_and(|at| {
            self.count[at] -= 1;
            self.count[at] == 0
        })
    }
}

/// Where the partitions of each service are, as far as anything depends on it.
#[derive(Clone, Debug)]
pub struct Services<'a> {
    problem: &'a Problem,
    machines: Table,
    locations: Table,
    neighbourhoods: Table,
    /// By service: how many locations it is in.
    spread: Vec<u32>,
    /// By service: those that depend on it.
    needed_by: Vec<Vec<u32>>,
    /// By service.
    partitions: Vec<Vec<u32>>,
}

impl Services<'_> {
    /// With every partition where it starts.
    pub fn new(problem: &Problem) -> Services<'_> {
        let count = problem.spread.len();
        let mut partitions = vec![Vec::new(); count];
        let mut needed_by = vec![Vec::new(); count];
        for (partition, &service) in problem.service.iter().enumerate() {
            partitions[service as usize].push(partition as u32);
        }
        for (service, needs) in problem.needs.iter().enumerate() {
            for &other in needs {
                needed_by[other as usize].push(service as u32);
            }
        }
        let width = |places: &[u32]| places.iter().max().map_or(0, |&last| last as usize + 1);
        let linked = |of: usize| !problem.needs[of].is_empty() || !needed_by[of].is_empty();
        let mut services = Services {
            problem,
            machines: Table::new(
                problem.machines(),
                partitions.iter().map(|all| all.len() > SEEN),
            ),
            locations: Table::new(
                width(&problem.location),
                problem.spread.iter().map(|&least| least > 1),
            ),
            neighbourhoods: Table::new(width(&problem.neighbourhood), (0..count).map(linked)),
            spread: vec![0; count],
            needed_by,
            partitions,
        };
        for (partition, &machine) in problem.start.iter().enumerate() {
            services.come(partition, machine as usize);
        }
        services
    }

    /// Whether a machine has a partition of this one's service, which is not this one; `at` says
    /// where each is.
    #[inline]
    pub fn occupied(&self, partition: usize, machine: usize, at: &[u32]) -> bool {
        let service = self.problem.service[partition] as usize;
        let machine = machine as u32;
        match self.machines.at(service, machine) {
            Some(place) => self.machines.count[place] > 0,
            None => {
                let all = &self.partitions[service];
                all.iter().any(|&one| at[one as usize] == machine)
            }
        }
    }

    /// Books a partition on a machine.
    pub fn come(&mut self, partition: usize, machine: usize) {
        let problem = self.problem;
        let service = problem.service[partition] as usize;
        self.machines.add(service, machine as u32);
        let first = self.locations.add(service, problem.location[machine]);
        self.spread[service] += u32::from(first);
        self.neighbourhoods
            .add(service, problem.neighbourhood[machine]);
    }

    /// Takes a partition off a machine's books.
    pub fn leave(&mut self, partition: usize, machine: usize) {
        let problem = self.problem;
        let service = problem.service[partition] as usize;
        self.machines.remove(service, machine as u32);
        let last = self.locations.remove(service, problem.location[machine]);
        self.spread[service] -= u32::from(last);
        self.neighbourhoods
            .remove(service, problem.neighbourhood[machine]);
    }

    /// Whether all that its service asks for, and all that others ask of it, holds after a
    /// partition came from one machine to another that was not occupied, if it held before.
    pub fn sound(&self, partition: usize, from: usize, to: usize) -> bool {
        let problem = self.problem;
        let service = problem.service[partition] as usize;
        let least = problem.spread[service];
        if least > 1 && self.spread[service] < least {
            return false;
        }
        let (old, new) = (problem.neighbourhood[from], problem.neighbourhood[to]);
        old == new || (self.has_all(service, new) && self.is_missed_by_none(service, old))
    }

    /// A service that is lacked in a neighbourhood by one that depends on it.
    pub fn lacked(&self, service: usize, neighbourhood: u32) -> Option<usize> {
        let needs = self.problem.needs[service].iter();
        let mut needs = needs.map(|&other| other as usize);
        needs.find(|&other| self.neighbourhoods.of(other, neighbourhood) == 0)
    }

    /// A service left behind in a neighbourhood without one that it depends on.
    pub fn left_behind(&self, service: usize, neighbourhood: u32) -> Option<usize> {
        if self.neighbourhoods.of(service, neighbourhood) > 0 {
            return None;
        }
        let who = self.needed_by[service].iter();
        let mut who = who.map(|&other| other as usize);
        who.find(|&other| self.neighbourhoods.of(other, neighbourhood) > 0)
    }

    /// By number, who belongs to it, in rising order.
    pub fn partitions(&self, service: usize) -> &[u32] {
        &self.partitions[service]
    }

    fn has_all(&self, service: usize, neighbourhood: u32) -> bool {
        let needs = &self.problem.needs[service];
        needs
            .iter()
            .all(|&other| self.neighbourhoods.of(other as usize, neighbourhood) > 0)
    }

    fn is_missed_by_none(&self, service: usize, neighbourhood: u32) -> bool {
        let there = |of: usize| self.neighbourhoods.of(of, neighbourhood) > 0;
        let missing = |&other: &u32| there(other as usize);
        there(service) || !self.needed_by[service].iter().any(missing)
    }

    /// The first thing asked for that does not hold.
    ///
    /// # Errors
    /// [`PlacementFault`] says which.
    pub fn broken(&self) -> Result<(), PlacementFault> {
        let problem = self.problem;
        let pairs = problem.service.iter().zip(&problem.start);
        let mut pairs: Vec<_> = pairs.collect();
        pairs.sort_unstable();
        if let Some(two) = pairs.windows(2).find(|two| two[0] == two[1]) {
            let (service, machine) = (*two[0].0 as usize, *two[0].1 as usize);
            return Err(PlacementFault::Together { machine, service });
        }
        for (&service, &machine) in problem.service.iter().zip(&problem.start) {
            let (service, machine) = (service as usize, machine as usize);
            let (got, want) = (self.spread[service], problem.spread[service]);
            if want > 1 && got < want {
                let (got, want) = (got as usize, want as usize);
                return Err(PlacementFault::Spread { service, got, want });
            }
            let place = problem.neighbourhood[machine];
            let lacks = |&&other: &&u32| self.neighbourhoods.of(other as usize, place) == 0;
            if let Some(&needs) = problem.needs[service].iter().find(lacks) {
                return Err(PlacementFault::Alone {
                    service,
                    neighbourhood: place as usize,
                    needs: needs as usize,
                });
            }
        }
        Ok(())
    }
}
