//! NUMA balancing, the memory's side: pages go to the node whose threads use them.
//!
//! Now and then part of a task's memory is made to fault, to see who touches it. A page moves to
//! the node of the thread that faults if the last fault came from that node, too (the two-stage
//! filter of `should_numa_migrate_memory`): so one that is common to threads on several nodes moves
//! to a node with the square of that node's share, and a thread's own page with certainty. The next
//! scan comes later the more faults were local or private, and sooner the fewer
//! (`update_task_scan_period`, threshold 7 of 10).

use crate::ids::{ById, MemoryId};
use crate::spec::NumaBalancing;

/// Tenths of the faults that must be local or private for scans to become rarer.
const THRESHOLD: i64 = 7;

/// Moves part `scanned` of the data common to threads that run on each domain as `use_share` says;
/// the share that has moved.
pub fn move_common(
    common: &mut ById<MemoryId, f64>,
    use_share: &ById<MemoryId, f64>,
    scanned: f64,
) -> f64 {
    let mut moved = 0.0;
    let stays = common.clone();
    for (to, share) in use_share.entries() {
        for (from, bytes) in stays.entries().filter(|(from, _)| *from != to) {
            let part = bytes * scanned * share * share;
            common[from] -= part;
            common[to] += part;
            moved += part;
        }
    }
    moved
}

/// Moves part `scanned` of the data of threads on one domain to it; the share that has moved.
pub fn move_own(own: &mut ById<MemoryId, f64>, to: MemoryId, scanned: f64) -> f64 {
    let moved = (1.0 - own[to]) * scanned;
    own.iter_mut().for_each(|share| *share *= 1.0 - scanned);
    own[to] += scanned;
    moved
}

/// Whether scans of a task become rare wherever its memory is, as so much of its data is its own.
pub fn is_rarely_scanned(private: f64) -> bool {
    (private * 10.0) as i64 >= THRESHOLD
}

/// Time to the next scan [ns], given the last one and the shares of faults that were local and
/// private.
pub fn next_period_ns(numa: &NumaBalancing, period_ns: u64, local: f64, private: f64) -> u64 {
    let tenths = |share: f64| (share * 10.0) as i64;
    let (local, private) = (tenths(local), tenths(private));
    let slot = (period_ns / 10).max(1) as i64;
    let best = if private >= THRESHOLD { private } else { local };
    let change = if best >= THRESHOLD {
        (best - THRESHOLD).max(1) * slot
    } else {
        -(THRESHOLD - local.max(private)) * slot
    };
    let next = (period_ns as i64 + change).max(0) as u64;
    next.clamp(numa.scan_period_min_ns, numa.scan_period_max_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(values: &ById<MemoryId, f64>, wanted: &[f64]) -> bool {
        values
            .iter()
            .zip(wanted)
            .all(|(a, b)| (a - b).abs() < 1e-12)
    }

    #[test]
    fn common_data_go_to_a_node_by_the_square_of_its_use() {
        let mut common = vec![1.0, 0.0].into();
        assert_eq!(move_common(&mut common, &vec![0.0, 1.0].into(), 0.25), 0.25);
        assert!(near(&common, &[0.75, 0.25]));
        // 3/4 x 1/4 to the second, 1/4 x 1/4 back, of a half of it all.
        let moved = move_common(&mut common, &vec![0.5, 0.5].into(), 0.5);
        assert!((moved - 0.125).abs() < 1e-12);
        assert!(near(&common, &[0.6875, 0.3125]));
        assert!((common.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn own_data_follow_their_thread() {
        let mut own = vec![1.0, 0.0, 0.0].into();
        let there = MemoryId::new(2);
        assert_eq!(move_own(&mut own, there, 0.5), 0.5);
        assert_eq!(move_own(&mut own, there, 0.5), 0.25);
        assert!(near(&own, &[0.25, 0.0, 0.75]));
    }

    #[test]
    fn scans_become_rarer_when_all_is_well_and_stay_frequent_when_not() {
        let numa = NumaBalancing::default();
        let second = 1_000_000_000;
        assert_eq!(next_period_ns(&numa, second, 1.0, 0.0), 13 * second / 10);
        assert_eq!(next_period_ns(&numa, second, 0.71, 0.0), 11 * second / 10);
        assert_eq!(next_period_ns(&numa, 10 * second, 0.45, 0.0), 7 * second);
        assert_eq!(next_period_ns(&numa, second, 0.0, 0.0), second);
        assert_eq!(next_period_ns(&numa, 60 * second, 1.0, 1.0), 60 * second);
    }
}
