//! Where every partition is, with all that a move needs to know kept up to date.

use super::load::{Change, Load};
use super::problem::Problem;
use super::services::Services;

/// A partition goes from one machine to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Who goes.
    pub partition: u32,
    /// Where it is.
    pub from: u32,
    /// Where it goes.
    pub to: u32,
}

/// How many partitions of each service have moved, and the most of any.
#[derive(Clone, Debug)]
struct Moved {
    of: Vec<u32>,
    /// By number: how many services have moved as many.
    services: Vec<u32>,
    most: u32,
}

impl Moved {
    /// What the most becomes when these services move one more or one less, each once.
    fn most_after(&self, changes: impl Iterator<Item = (usize, i32)>) -> u32 {
        let mut leaving = 0;
        let mut stays = false;
        for (service, by) in changes {
            let now = self.of[service];
            match by {
                1 if now == self.most => return self.most + 1,
                1 => stays |= now + 1 == self.most,
                -1 => leaving += u32::from(now == self.most),
                _ => {}
            }
        }
        let all_leave = leaving > 0 && leaving == self.services[self.most as usize];
        self.most - u32::from(all_leave && !stays)
    }

    fn change(&mut self, service: usize, by: i32) {
        let old = self.of[service];
        let new = old.wrapping_add_signed(by);
        self.of[service] = new;
        self.services[old as usize] -= 1;
        self.services[new as usize] += 1;
        self.most = self.most.max(new);
        while self.services[self.most as usize] == 0 {
            self.most -= 1;
        }
    }
}

/// Who is on each machine, in no order.
#[derive(Clone, Debug)]
struct Members {
    of: Vec<Vec<u32>>,
    /// By partition: its place among those of its machine.
    place: Vec<u32>,
}

impl Members {
    fn new(problem: &Problem) -> Members {
        let mut members = Members {
            of: vec![Vec::new(); problem.machines()],
            place: vec![0; problem.partitions()],
        };
        for (partition, &machine) in problem.start.iter().enumerate() {
            members.add(partition as u32, machine);
        }
        members
    }

    fn add(&mut self, partition: u32, machine: u32) {
        let all = &mut self.of[machine as usize];
        self.place[partition as usize] = all.len() as u32;
        all.push(partition);
    }

    fn remove(&mut self, partition: u32, machine: u32) {
        let all = &mut self.of[machine as usize];
        let place = self.place[partition as usize];
        all.swap_remove(place as usize);
        if let Some(&last) = all.get(place as usize) {
            self.place[last as usize] = place;
        }
    }
}

/// A sound assignment: every hard rule holds, after every move.
#[derive(Clone, Debug)]
pub struct Assignment<'a> {
    problem: &'a Problem,
    at: Vec<u32>,
    members: Members,
    load: Load,
    services: Services<'a>,
    moved: Moved,
    cost: i64,
}

impl<'a> Assignment<'a> {
    /// The start of a problem that was checked.
    pub fn new(problem: &'a Problem) -> Assignment<'a> {
        let load = Load::new(problem);
        let mut sizes = vec![0_usize; problem.spread.len()];
        for &service in &problem.service {
            sizes[service as usize] += 1;
        }
        let mut services = vec![0; sizes.iter().max().map_or(0, |&most| most) + 2];
        services[0] = problem.spread.len().max(1) as u32;
        Assignment {
            problem,
            at: problem.start.clone(),
            members: Members::new(problem),
            cost: problem.cost(&problem.start),
            load,
            services: Services::new(problem),
            moved: Moved {
                of: vec![0; problem.spread.len()],
                services,
                most: 0,
            },
        }
    }

    /// Places that are known to be sound.
    pub fn placed(problem: &'a Problem, at: &[u32]) -> Assignment<'a> {
        let mut assignment = Assignment::new(problem);
        for (partition, &to) in at.iter().enumerate() {
            let from = problem.start[partition];
            if from != to {
                let step = Step {
                    partition: partition as u32,
                    from,
                    to,
                };
                assignment.services.leave(partition, from as usize);
                assignment.services.come(partition, to as usize);
                assignment.book(&step);
            }
        }
        assignment.cost = problem.cost(at);
        assignment
    }

    /// What is asked.
    #[inline]
    pub fn problem(&self) -> &'a Problem {
        self.problem
    }

    /// By partition: its machine.
    #[inline]
    pub fn at(&self) -> &[u32] {
        &self.at
    }

    /// The whole cost.
    #[inline]
    pub fn cost(&self) -> i64 {
        self.cost
    }

    /// Who is on a machine, in no order.
    #[inline]
    pub fn members(&self, machine: usize) -> &[u32] {
        &self.members.of[machine]
    }

    /// Where the partitions of services are.
    #[inline]
    pub fn services(&self) -> &Services<'a> {
        &self.services
    }

    /// Whether more is taken of a machine than it has: so it may be within a compound move.
    #[inline]
    pub fn overfull(&self, machine: usize) -> bool {
        self.load.overfull(self.problem, machine)
    }

    /// Whether a machine has room for a partition, and none of its service.
    #[inline]
    pub fn takes(&self, partition: usize, machine: usize) -> bool {
        let change = Change {
            leaves: None,
            comes: Some(partition as u32),
        };
        !self.occupied(partition, machine) && self.load.fits(self.problem, machine, change)
    }

    /// Whether a rule of the services is broken by a step made.
    pub fn sound(&self, step: &Step) -> bool {
        let (from, to) = (step.from as usize, step.to as usize);
        self.services.sound(step.partition as usize, from, to)
    }

    /// Makes a step, whatever rules say: part of a compound move.
    pub fn force(&mut self, step: &Step) {
        let partition = step.partition as usize;
        let (from, to) = (step.from as usize, step.to as usize);
        let problem = self.problem;
        let before = self.load.cost(from) + self.load.cost(to) + problem.moving(partition, from);
        let most = i64::from(self.moved.most);
        self.services.leave(partition, from);
        self.services.come(partition, to);
        self.book(step);
        let after = self.load.cost(from) + self.load.cost(to) + problem.moving(partition, to);
        self.cost += after - before + problem.weights.service * (i64::from(self.moved.most) - most);
    }

    /// What a machine's load costs.
    #[inline]
    pub fn load_cost(&self, machine: usize) -> i64 {
        self.load.cost(machine)
    }

    /// Whether a machine has a partition of this one's service.
    #[inline]
    pub fn occupied(&self, partition: usize, machine: usize) -> bool {
        self.services.occupied(partition, machine, &self.at)
    }

    /// What steps made at once add to the cost; none where a machine has no room. No two are of one
    /// partition or service, and no machine is left by two or reached by two.
    #[inline]
    pub fn delta(&self, steps: &[Step]) -> Option<i64> {
        let problem = self.problem;
        let change = |step: &Step| {
            let leaves = steps.iter().find(|other| other.from == step.to);
            Change {
                leaves: leaves.map(|other| other.partition),
                comes: Some(step.partition),
            }
        };
        // Most draws end here: what they would cost is not worked out.
        let fits = |step: &Step| self.load.fits(problem, step.to as usize, change(step));
        if !steps.iter().all(fits) {
            return None;
        }
        let mut delta = 0;
        for step in steps {
            delta += self.load.change(problem, step.to as usize, change(step));
        }
        for step in steps {
            if steps.iter().all(|other| other.to != step.from) {
                let change = Change {
                    leaves: Some(step.partition),
                    comes: None,
                };
                delta += self.load.change(problem, step.from as usize, change);
            }
            let partition = step.partition as usize;
            delta += problem.moving(partition, step.to as usize)
                - problem.moving(partition, step.from as usize);
        }
        let most = self
            .moved
            .most_after(steps.iter().map(|step| self.counted(step)));
        let more = i64::from(most) - i64::from(self.moved.most);
        Some(delta + problem.weights.service * more)
    }

    /// Makes steps for which [`Assignment::delta`] found this, unless a service forbids it; whether
    /// they are made.
    pub fn make(&mut self, steps: &[Step], delta: i64) -> bool {
        for step in steps {
            let partition = step.partition as usize;
            self.services.leave(partition, step.from as usize);
            self.services.come(partition, step.to as usize);
        }
        let sound = |step: &Step| {
            let (from, to) = (step.from as usize, step.to as usize);
            self.services.sound(step.partition as usize, from, to)
        };
        if !steps.iter().all(sound) {
            for step in steps {
                let partition = step.partition as usize;
                self.services.leave(partition, step.to as usize);
                self.services.come(partition, step.from as usize);
            }
            return false;
        }
        for step in steps {
            self.book(step);
        }
        self.cost += delta;
        true
    }

    fn book(&mut self, step: &Step) {
        let problem = self.problem;
        let (service, by) = self.counted(step);
        if by != 0 {
            self.moved.change(service, by);
        }
        let partition = step.partition;
        let leaves = Change {
            leaves: Some(partition),
            comes: None,
        };
        let comes = Change {
            leaves: None,
            comes: Some(partition),
        };
        self.load.make(problem, step.from as usize, leaves);
        self.load.make(problem, step.to as usize, comes);
        self.members.remove(partition, step.from);
        self.members.add(partition, step.to);
        self.at[partition as usize] = step.to;
    }

    /// A step's service, and how many more of it have moved.
    #[inline]
    fn counted(&self, step: &Step) -> (usize, i32) {
        let start = self.problem.start[step.partition as usize];
        let by = i32::from(step.to != start) - i32::from(step.from != start);
        (self.problem.service[step.partition as usize] as usize, by)
    }
}
