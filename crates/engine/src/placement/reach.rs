//! On which machines a partition can ever be.

use super::problem::Problem;
use crate::kernel::Stream;

/// A partition that can be on more than one machine in so many may be on any: a draw finds one
/// soon, and lists stay short where there are thousands of machines.
const FEW: usize = 16;
/// As many are listed in any case.
const LISTED: usize = 128;

/// By partition: where it can ever be. What a machine's partitions held of transient resources at
/// the start is held there for good, by them or for them; only the rest is for those who come.
#[derive(Clone, Debug)]
pub struct Reach {
    /// By partition: where its machines end.
    ends: Vec<usize>,
    /// Machines of one partition after another; none of those that may be on any.
    listed: Vec<u32>,
    machines: u64,
}

impl Reach {
    /// Of all partitions.
    pub fn new(problem: &Problem) -> Reach {
        let machines = problem.machines();
        let most = LISTED.max(machines / FEW);
        let limits = limits(problem);
        let mut reach = Reach {
            ends: Vec::with_capacity(problem.partitions()),
            listed: Vec::new(),
            machines: machines as u64,
        };
        for partition in 0..problem.partitions() {
            let taken = problem.taken(partition);
            let start = problem.start[partition];
            let fits = |(machine, limit): (usize, &[i64])| {
                let fits = taken.iter().zip(limit).all(|(taken, limit)| taken <= limit);
                (fits || machine as u32 == start).then_some(machine as u32)
            };
            let before = reach.listed.len();
            let all = limits.chunks(taken.len().max(1)).enumerate();
            reach.listed.extend(all.filter_map(fits).take(most + 1));
            if reach.listed.len() - before > most {
                reach.listed.truncate(before);
            }
            reach.ends.push(reach.listed.len());
        }
        reach
    }

    /// Machines that it can be on; none if it may be on any.
    #[inline]
    pub fn of(&self, partition: u32) -> &[u32] {
        let partition = partition as usize;
        let from = partition.checked_sub(1).map_or(0, |last| self.ends[last]);
        &self.listed[from..self.ends[partition]]
    }

    /// One of them.
    #[inline]
    pub fn draw(&self, dice: &mut Stream, partition: u32) -> u32 {
        match self.of(partition) {
            [] => dice.below(self.machines) as u32,
            all => all[dice.below(all.len() as u64) as usize],
        }
    }
}

/// By machine and resource: what one who comes can take at most.
fn limits(problem: &Problem) -> Vec<i64> {
    let resources = problem.resources();
    let mut limits = problem.capacity.clone();
    for (partition, &start) in problem.start.iter().enumerate() {
        let row = &mut limits[start as usize * resources..];
        let taken = problem.taken(partition).iter().zip(&problem.transient);
        for (limit, (&taken, &held)) in row.iter_mut().zip(taken) {
            *limit -= if held { taken } else { 0 };
        }
    }
    limits
}
