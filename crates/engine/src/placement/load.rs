//! What machines have left, and what their load costs.

use super::fault::PlacementFault;
use super::problem::Problem;

/// What is used of each machine. Two books: `used` is what its partitions take, and costs; `room`
/// is what may still be taken, where what has moved away still holds its transient resources.
#[derive(Clone, Debug)]
pub struct Load {
    used: Vec<i64>,
    room: Vec<i64>,
    /// By machine.
    cost: Vec<i64>,
    /// By partition and resource: what it takes besides transient resources.
    lasting: Vec<i64>,
    /// What nobody takes.
    nothing: Vec<i64>,
}

/// What a machine's change is made of: a partition that leaves it, one that comes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Change {
    /// Partition that leaves.
    pub leaves: Option<u32>,
    /// Partition that comes.
    pub comes: Option<u32>,
}

impl Load {
    /// With every partition where it starts.
    pub fn new(problem: &Problem) -> Load {
        let (machines, resources) = (problem.machines(), problem.resources());
        let mut load = Load {
            used: vec![0; machines * resources],
            room: problem.capacity.clone(),
            cost: vec![0; machines],
            lasting: problem.requirement.clone(),
            nothing: vec![0; resources],
        };
        for row in load.lasting.chunks_mut(resources.max(1)) {
            for (value, _) in row.iter_mut().zip(&problem.transient).filter(|(_, &is)| is) {
                *value = 0;
            }
        }
        for (partition, &machine) in problem.start.iter().enumerate() {
            let row = machine as usize * resources;
            for (resource, taken) in problem.taken(partition).iter().enumerate() {
                load.used[row + resource] += taken;
                load.room[row + resource] -= taken;
            }
        }
        for machine in 0..machines {
            let row = &load.used[machine * resources..];
            load.cost[machine] = problem.load_cost(machine, |resource| row[resource]);
        }
        load
    }

    /// The first machine that is too full.
    ///
    /// # Errors
    /// [`PlacementFault::Capacity`] names it.
    pub fn full(&self, problem: &Problem) -> Result<(), PlacementFault> {
        let Some(at) = self.room.iter().position(|&room| room < 0) else {
            return Ok(());
        };
        Err(PlacementFault::Capacity {
            machine: at / problem.resources(),
            resource: at % problem.resources(),
            capacity: problem.capacity[at],
            used: self.used[at],
        })
    }

    /// What a machine costs now.
    #[inline]
    pub fn cost(&self, machine: usize) -> i64 {
        self.cost[machine]
    }

    /// What a change adds to a machine's cost.
    #[inline]
    pub fn change(&self, problem: &Problem, machine: usize, change: Change) -> i64 {
        let resources = problem.resources();
        let row = machine * resources;
        let comes = self.taken(problem, change.comes);
        let leaves = self.taken(problem, change.leaves);
        let used = &self.used[row..][..resources];
        let after = |at: usize| used[at] + comes[at] - leaves[at];
        problem.load_cost(machine, after) - self.cost[machine]
    }

    /// Makes a change, whether there is room or not.
    pub fn make(&mut self, problem: &Problem, machine: usize, change: Change) {
        let resources = problem.resources();
        let row = machine * resources;
        for at in 0..resources {
            let of = |this: &Load, who| this.taken(problem, who)[at];
            let room = |this: &Load, who| this.held(problem, machine, who)[at];
            let used = of(self, change.comes) - of(self, change.leaves);
            let held = room(self, change.comes) - room(self, change.leaves);
            self.used[row + at] += used;
            self.room[row + at] -= held;
        }
        let used = &self.used[row..];
        self.cost[machine] = problem.load_cost(machine, |at| used[at]);
    }

    /// Whether more is taken than there is.
    #[inline]
    pub fn overfull(&self, problem: &Problem, machine: usize) -> bool {
        let resources = problem.resources();
        let room = &self.room[machine * resources..][..resources];
        room.iter().any(|&room| room < 0)
    }

    /// Whether a machine has room for a change.
    #[inline]
    pub fn fits(&self, problem: &Problem, machine: usize, change: Change) -> bool {
        let resources = problem.resources();
        let comes = self.held(problem, machine, change.comes);
        let leaves = self.held(problem, machine, change.leaves);
        let room = &self.room[machine * resources..][..resources];
        (0..resources).all(|at| room[at] + leaves[at] >= comes[at])
    }

    #[inline]
    fn taken<'a>(&'a self, problem: &'a Problem, partition: Option<u32>) -> &'a [i64] {
        partition.map_or(&self.nothing, |partition| problem.taken(partition as usize))
    }

    /// What a partition's coming takes of the room: where it started its transient resources are
    /// still held.
    #[inline]
    fn held<'a>(
        &'a self,
        problem: &'a Problem,
        machine: usize,
        partition: Option<u32>,
    ) -> &'a [i64] {
        let resources = problem.resources();
        match partition {
            None => &self.nothing,
            Some(one) if problem.start[one as usize] as usize == machine => {
                &self.lasting[one as usize * resources..][..resources]
            }
            Some(one) => problem.taken(one as usize),
        }
    }
}
