//! Whose turn it is for what others leave: of the partitions of a pool that wait, the one that has
//! used least beyond its share, per weight; among equals the one that has waited longest.
//!
//! A tournament by pool holds a number for each partition that waits: its age, then when it began.
//! Ages only grow, so a number that is out of date stands too far ahead and never too far behind.
//! Hence nothing is done when time is charged: before somebody asks, whoever stands at the top is
//! brought up to date until one is there that is ([`Turns::refresh`]).

use super::share::Share;
use crate::ids::{ById, PartitionId, PoolId};
use crate::kernel::{Tree, EMPTY};

/// Bits of a partition's number, the last ones of those in a tournament.
const PARTITION_BITS: u32 = u16::BITS;

/// Partitions that wait for excess, by pool.
pub struct Turns {
    /// A slot for each partition; dedicated ones have none that is used.
    pools: ById<PoolId, Tree>,
    pool_of: ById<PartitionId, PoolId>,
    waiting: usize,
    /// How many have begun to wait since nobody did.
    begun: u64,
    /// Room for [`Turns::drain`].
    order: Vec<u64>,
}

impl Turns {
    /// Nobody waits.
    pub fn new(pools: usize, shares: &ById<PartitionId, Share>) -> Self {
        let pool = |share: &Share| share.claim().map_or(PoolId::new(0), |claim| claim.pool);
        let tree = |_| {
            let mut tree = Tree::new();
            while tree.slots() < shares.len() {
                tree.double();
            }
            tree
        };
        Self {
            pools: (0..pools).map(tree).collect(),
            pool_of: shares.iter().map(pool).collect(),
            waiting: 0,
            begun: 0,
            order: Vec::new(),
        }
    }

    /// Whether nobody waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// A partition of this age begins to wait.
    pub fn begin(&mut self, partition: PartitionId, age: f64) {
        debug_assert!(age.is_sign_positive());
        self.waiting += 1;
        self.begun += 1;
        let number = number(age, self.begun << PARTITION_BITS | partition.index() as u64);
        self.set(partition, number);
    }

    /// A partition waits no more.
    pub fn end(&mut self, partition: PartitionId) {
        self.waiting -= 1;
        self.set(partition, EMPTY);
    }

    /// Brings up to date whoever has aged since its turn was noted, as far as it comes first in its
    /// pool.
    #[inline]
    pub fn refresh(&mut self, shares: &ById<PartitionId, Share>) {
        if self.waiting == 0 {
            return;
        }
        for tree in &mut self.pools {
            while let Some(partition) = partition_of(tree.top()) {
                let now = number(shares[partition].excess_age(), tree.top() as u64);
                if now == tree.top() {
                    break;
                }
                tree.set(partition.index(), now);
            }
        }
    }

    /// Who comes next in a pool. It is told from ages as they were when that was refreshed.
    #[inline]
    pub fn next(&self, pool: PoolId) -> Option<PartitionId> {
        partition_of(self.pools[pool].top())
    }

    /// The same among all pools, of whose next those come first that `later` says the least of.
    pub fn next_of_all<K: Ord>(&self, later: impl Fn(PartitionId) -> K) -> Option<PartitionId> {
        let tops = self.pools.iter().map(Tree::top);
        let first = tops.filter_map(|top| Some((top, partition_of(top)?)));
        let first = first.min_by_key(|(top, partition)| (later(*partition), *top));
        first.map(|(_, partition)| partition)
    }

    /// Nobody waits any more; tells who did, those first that have waited longest.
    pub fn drain(&mut self, mut tell: impl FnMut(PartitionId)) {
        if self.waiting > 0 {
            let mut order = std::mem::take(&mut self.order);
            let numbers = self.pools.iter().flat_map(Tree::numbers);
            order.extend(numbers.map(|number| number as u64));
            order.sort_unstable();
            for partition in order.drain(..).map(partition) {
                self.set(partition, EMPTY);
                tell(partition);
            }
            self.order = order;
        }
        (self.waiting, self.begun) = (0, 0);
    }

    fn set(&mut self, partition: PartitionId, number: u128) {
        self.pools[self.pool_of[partition]].set(partition.index(), number);
    }
}

/// The order of ages that are not negative is that of their bits.
fn number(age: f64, begun: u64) -> u128 {
    u128::from(age.to_bits()) << u64::BITS | u128::from(begun)
}

fn partition_of(number: u128) -> Option<PartitionId> {
    (number != EMPTY).then(|| partition(number as u64))
}

fn partition(begun: u64) -> PartitionId {
    PartitionId::new(usize::from(begun as u16))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hypervisor::share::{Lending, Rule};
    use crate::hypervisor::Claim;
    use crate::kernel::Stream;

    fn share(pool: usize) -> Share {
        let claim = Claim {
            pool: PoolId::new(pool),
            capped: false,
            soft_cap: false,
            weight: 1.0,
            excess_age: 0.0,
            promised: false,
        };
        Share {
            vps: 1,
            active_vps: 0,
            exhausted_vps: 0,
            entitled_ns: 0,
            rule: Rule::Lending(Lending {
                claim,
                ceded_ns: 0,
                home: Box::default(),
            }),
        }
    }

    /// Whoever waits is looked at anew at every question, in the order in which they began.
    struct Plain<'a> {
        waiting: &'a [PartitionId],
        shares: &'a ById<PartitionId, Share>,
    }

    impl Plain<'_> {
        fn claim(&self, partition: PartitionId) -> &Claim {
            self.shares[partition].claim().unwrap()
        }

        fn next(&self, pool: PoolId) -> Option<PartitionId> {
            let waiting = self.waiting.iter().copied();
            let of_pool = waiting.filter(|it| self.claim(*it).pool == pool);
            let age = |it: &PartitionId| self.claim(*it).excess_age;
            of_pool.min_by(|a, b| age(a).total_cmp(&age(b)))
        }

        fn next_of_all(&self, later: impl Fn(PoolId) -> bool) -> Option<PartitionId> {
            let key = |it: &PartitionId| (later(self.claim(*it).pool), self.claim(*it).excess_age);
            let waiting = self.waiting.iter().copied();
            waiting.min_by(|a, b| {
                let (a, b) = (key(a), key(b));
                a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
            })
        }
    }

    /// Ages are whole numbers of which many are equal.
    #[test]
    fn turns_are_those_of_a_plain_scan() {
        for (partitions, pools) in [(1, 1), (8, 1), (70, 1), (40, 3)] {
            let mut stream = Stream::new(7, 0, "turns");
            let each = (0..partitions).map(|_| share(stream.below(pools) as usize));
            let mut shares: ById<PartitionId, Share> = each.collect();
            let mut turns = Turns::new(pools as usize, &shares);
            let mut waiting: Vec<PartitionId> = Vec::new();
            for _ in 0..6_000 {
                let one = PartitionId::new(stream.below(partitions) as usize);
                let place = waiting.iter().position(|it| *it == one);
                match (stream.below(100), place) {
                    (0, _) => {
                        let mut told = Vec::new();
                        turns.drain(|it| told.push(it));
                        assert_eq!(told, std::mem::take(&mut waiting));
                    }
                    (1..40, _) => {
                        let claim = shares[one].claim_mut().unwrap();
                        claim.excess_age += stream.below(4) as f64;
                    }
                    (40..70, None) => {
                        turns.begin(one, shares[one].excess_age());
                        waiting.push(one);
                    }
                    (70.., Some(place)) => {
                        turns.end(one);
                        waiting.remove(place);
                    }
                    _ => continue,
                }
                turns.refresh(&shares);
                let (waiting, shares) = (&waiting[..], &shares);
                let plain = Plain { waiting, shares };
                for pool in (0..pools as usize).map(PoolId::new) {
                    assert_eq!(turns.next(pool), plain.next(pool));
                }
                let odd = stream.below(2);
                let later = |pool: PoolId| pool.index() as u64 % 2 == odd;
                let of = |it: PartitionId| later(shares[it].claim().unwrap().pool);
                assert_eq!(turns.next_of_all(of), plain.next_of_all(later));
                assert_eq!(turns.is_empty(), waiting.is_empty());
            }
        }
    }
}
