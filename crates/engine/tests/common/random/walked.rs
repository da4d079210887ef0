//! Machines whose tables are walked, and partitions that are virtual machines there.

use homenode_engine::spec::{Partition, Processors, Virtualized, Walks};

/// How tables are walked, now and then.
pub fn walks(dice: &[u16]) -> Option<Walks> {
    let share = |dice: u16| f64::from(dice % 5) / 4.0;
    (dice[0] % 3 == 0).then(|| Walks {
        entries: 16,
        large_entries: 1,
        upper: share(dice[1]),
        guest_tables: share(dice[2]),
        cache_share: 0.5,
    })
}

/// Makes a partition a virtual machine with pages of some length, now and then.
pub fn virtualize(partition: &mut Partition, length: u16, dice: u16) {
    partition.page_bytes <<= 9 * (length % 3);
    if let Processors::Shared { host, .. } = &mut partition.processors {
        host.virtualized = (dice % 2 == 0).then_some(Box::new(Virtualized {
            page_bytes: 4096 << (9 * (dice / 2 % 3)),
            exit_ns: 1_200,
            timer_exits: 2,
            posted_interrupts: dice / 6 % 2 == 0,
        }));
    }
}
