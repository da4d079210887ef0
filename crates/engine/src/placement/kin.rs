//! Who takes about as much as whom.

use super::problem::Problem;
use crate::kernel::Stream;

/// How far kin are on average, as a share of all.
const FAR: f64 = 0.005;

/// Partitions in the order of what they take of each resource: neighbours change places easily.
#[derive(Clone, Debug)]
pub struct Kin {
    /// By resource: partitions, the smallest first.
    orders: Vec<Vec<u32>>,
    /// By resource: where each partition stands.
    places: Vec<Vec<u32>>,
}

impl Kin {
    /// Of all partitions.
    pub fn new(problem: &Problem) -> Kin {
        let count = problem.partitions() as u32;
        let order = |resource: usize| {
            let mut order: Vec<u32> = (0..count).collect();
            order.sort_by_key(|&one| problem.taken(one as usize)[resource]);
            order
        };
        let orders: Vec<Vec<u32>> = (0..problem.resources()).map(order).collect();
        let place = |order: &Vec<u32>| {
            let mut places = vec![0; order.len()];
            for (place, &one) in order.iter().enumerate() {
                places[one as usize] = place as u32;
            }
            places
        };
        let places = orders.iter().map(place).collect();
        Kin { orders, places }
    }

    /// One that takes about as much of some resource; near ones are likelier.
    #[inline]
    pub fn draw(&self, dice: &mut Stream, one: u32) -> u32 {
        let resource = dice.below(self.orders.len() as u64) as usize;
        let order = &self.orders[resource];
        let place = i64::from(self.places[resource][one as usize]);
        let far = 1 + dice.exponential(order.len() as f64 * FAR) as i64;
        let there = if dice.below(2) == 0 {
            place - far
        } else {
            place + far
        };
        order[there.clamp(0, order.len() as i64 - 1) as usize]
    }
}
