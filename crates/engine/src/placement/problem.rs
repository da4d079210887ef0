//! What is to be placed, on what, and what it costs.

/// Partitions, machines and what holds between them. Lists of several values a row stand row after
/// row: `capacity[machine * resources + resource]`.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// By resource: whether a partition that has moved still takes it where it was.
    pub transient: Vec<bool>,
    /// By resource: cost of a unit above a machine's safety capacity.
    pub load_weight: Vec<i64>,
    /// By machine: within which the partitions that a service depends on must be.
    pub neighbourhood: Vec<u32>,
    /// By machine: over which a service is spread.
    pub location: Vec<u32>,
    /// By machine and resource: what there is.
    pub capacity: Vec<i64>,
    /// By machine and resource: what may be used without cost.
    pub safety: Vec<i64>,
    /// By machine and machine: cost of a move from the first to the second.
    pub way: Vec<u32>,
    /// By service: the least number of locations.
    pub spread: Vec<u32>,
    /// By service: those that must have a partition in the neighbourhood of each of its own.
    pub needs: Vec<Vec<u32>>,
    /// By partition: its service, whose partitions are on machines of their own.
    pub service: Vec<u32>,
    /// By partition and resource: what it takes.
    pub requirement: Vec<i64>,
    /// By partition: what it costs that it is moved at all.
    pub move_cost: Vec<i64>,
    /// Resources that should be left over in proportion.
    pub balances: Vec<Balance>,
    /// What moves cost beside the rest.
    pub weights: Weights,
    /// By partition: the machine where it is at the start.
    pub start: Vec<u32>,
}

/// What is left of one resource should be enough for what is left of another: `weight * max(0,
/// target * left of first - left of second)` on each machine.
#[derive(Clone, Copy, Debug)]
pub struct Balance {
    /// Resource that is of use only with the other.
    pub first: usize,
    /// The other resource.
    pub second: usize,
    /// Units of the second that a unit of the first is to have.
    pub target: i64,
    /// Cost of a unit that is missing.
    pub weight: i64,
}

/// Weights of moves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weights {
    /// Of what it costs that a partition is moved at all.
    pub partition: i64,
    /// Of the greatest number of partitions moved of a service.
    pub service: i64,
    /// Of the ways between machines.
    pub way: i64,
}

impl Problem {
    /// Number of resources.
    #[inline]
    pub fn resources(&self) -> usize {
        self.transient.len()
    }

    /// Number of machines.
    #[inline]
    pub fn machines(&self) -> usize {
        self.location.len()
    }

    /// Number of partitions.
    #[inline]
    pub fn partitions(&self) -> usize {
        self.service.len()
    }

    /// What a partition takes, by resource.
    #[inline]
    pub fn taken(&self, partition: usize) -> &[i64] {
        let resources = self.resources();
        &self.requirement[partition * resources..][..resources]
    }

    /// What it costs that a partition is on this machine rather than where it was.
    #[inline]
    pub fn moving(&self, partition: usize, machine: usize) -> i64 {
        let start = self.start[partition] as usize;
        if start == machine {
            return 0;
        }
        self.weights.partition * self.move_cost[partition]
            + self.weights.way * i64::from(self.way[start * self.machines() + machine])
    }

    /// Load above the safety capacity, and lack of balance, of a machine of which this much is
    /// used.
    #[inline]
    pub fn load_cost(&self, machine: usize, used: impl Fn(usize) -> i64) -> i64 {
        let resources = self.resources();
        let row = machine * resources;
        let (safety, capacity) = (
            &self.safety[row..][..resources],
            &self.capacity[row..][..resources],
        );
        let mut cost = 0;
        for (resource, (&safe, &weight)) in safety.iter().zip(&self.load_weight).enumerate() {
            cost += weight * (used(resource) - safe).max(0);
        }
        for balance in &self.balances {
            let left = |resource: usize| capacity[resource] - used(resource);
            let lack = balance.target * left(balance.first) - left(balance.second);
            cost += balance.weight * lack.max(0);
        }
        cost
    }

    /// The whole cost of an assignment, from scratch. It need not be a sound one.
    pub fn cost(&self, at: &[u32]) -> i64 {
        let resources = self.resources();
        let mut used = vec![0; self.machines() * resources];
        let mut moved = vec![0_i64; self.spread.len()];
        let mut cost = 0;
        for (partition, &machine) in at.iter().enumerate() {
            let row = machine as usize * resources;
            for (sum, taken) in used[row..].iter_mut().zip(self.taken(partition)) {
                *sum += taken;
            }
            cost += self.moving(partition, machine as usize);
            moved[self.service[partition] as usize] += i64::from(machine != self.start[partition]);
        }
        for machine in 0..self.machines() {
            cost += self.load_cost(machine, |resource| used[machine * resources + resource]);
        }
        cost + self.weights.service * moved.into_iter().max().unwrap_or(0)
    }
}
