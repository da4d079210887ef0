//! What every search knows of a problem before it begins.

use super::kin::Kin;
use super::problem::Problem;
use super::reach::Reach;

/// Facts of a problem that no move changes.
#[derive(Clone, Debug)]
pub struct Known {
    /// Who takes about as much as whom.
    pub kin: Kin,
    /// Who can be where.
    pub reach: Reach,
    /// Whose place matters how much.
    pub burden: Burden,
    /// What it costs to move the first time, on average.
    pub leaving: f64,
}

impl Known {
    /// Of a problem that was checked.
    pub fn new(problem: &Problem) -> Known {
        Known {
            kin: Kin::new(problem),
            reach: Reach::new(problem),
            burden: Burden::new(problem),
            leaving: leaving(problem),
        }
    }
}

/// Of a move to the next machine; ways are much alike.
fn leaving(problem: &Problem) -> f64 {
    let machines = problem.machines();
    let next = |one: usize| (problem.start[one] as usize + 1) % machines;
    let all = (0..problem.partitions()).map(|one| problem.moving(one, next(one)) as f64);
    all.sum::<f64>() / problem.partitions().max(1) as f64
}

/// Partitions by what they could cost where nothing is left for them.
#[derive(Clone, Debug)]
pub struct Burden {
    /// The heaviest first.
    order: Vec<u32>,
    /// What each of them could cost.
    costs: Vec<i64>,
}

impl Burden {
    fn new(problem: &Problem) -> Burden {
        let cost = |partition: u32| {
            let taken = problem.taken(partition as usize);
            let load = taken.iter().zip(&problem.load_weight);
            let lack = problem.balances.iter().map(|balance| {
                balance.weight * (balance.target * taken[balance.first]).max(taken[balance.second])
            });
            load.map(|(taken, weight)| taken * weight).sum::<i64>() + lack.sum::<i64>()
        };
        let mut order: Vec<u32> = (0..problem.partitions() as u32).collect();
        order.sort_by_cached_key(|&one| std::cmp::Reverse(cost(one)));
        let costs = order.iter().map(|&one| cost(one)).collect();
        Burden { order, costs }
    }

    /// How many could cost more than this.
    pub fn count(&self, above: f64) -> usize {
        self.costs.partition_point(|&cost| cost as f64 > above)
    }

    /// So many of the heaviest.
    #[inline]
    pub fn heaviest(&self, count: usize) -> &[u32] {
        &self.order[..count]
    }
}
