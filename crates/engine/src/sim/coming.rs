//! Configuration that is still to come, and time online before the present one.

use crate::ids::PartitionId;
use crate::spec::{Change, Partition, Processors, Spec};

/// What is still to come.
pub struct Changes {
    /// The last one comes first.
    pending: Vec<Change>,
    /// When the next one is due; never if none is [ns].
    pub due_ns: u64,
}

/// Time that logical and virtual processors would have been online before, had those of now always
/// been, and were not [ns]; negative if more were.
#[derive(Clone, Copy, Debug, Default)]
pub struct Before {
    /// Of logical processors.
    pub cpus_ns: i64,
    /// Of dedicated cores.
    pub cores_ns: i64,
}

impl Changes {
    /// Takes them out of a spec, which gets those that hold from the start.
    pub fn of(spec: &mut Spec) -> Self {
        let mut pending = std::mem::take(&mut spec.changes);
        pending.sort_by_key(|change| change.at_ns);
        for change in &mut pending {
            change.at_ns += spec.warmup_ns;
            // Work starts behind the first window, and so does what starts and stops it.
            change.at_ns = change.at_ns.max(u64::from(change.running.is_some()));
        }
        let later = pending.partition_point(|change| change.at_ns == 0);
        for change in pending.drain(..later) {
            apply(&change, &mut spec.partitions[usize::from(change.partition)]);
        }
        pending.reverse();
        let mut changes = Self { pending, due_ns: 0 };
        changes.look();
        changes
    }

    /// Partitions with room for all that is still to come.
    pub fn room(&self, spec: &Spec) -> Spec {
        let mut room = spec.clone();
        for change in self.pending.iter().rev() {
            make_room(&mut room.partitions[usize::from(change.partition)], change);
        }
        room
    }

    /// Partitions that run only when they are started: what comes first of it is a start.
    pub fn starts_later(&self) -> Vec<PartitionId> {
        let mut seen = Vec::new();
        let mut later = Vec::new();
        for change in self.pending.iter().rev() {
            let of = PartitionId::from(change.partition);
            if let (Some(starts), false) = (change.running, seen.contains(&of)) {
                seen.push(of);
                later.extend(starts.then_some(of));
            }
        }
        later
    }

    fn look(&mut self) {
        self.due_ns = self.pending.last().map_or(u64::MAX, |next| next.at_ns);
    }

    /// The next one that is due, if it may come now.
    pub fn take(&mut self, now: u64, may: impl Fn(&Change) -> bool) -> Option<Change> {
        let due = self.due_ns <= now && self.pending.last().is_some_and(may);
        let next = due.then(|| self.pending.pop()).flatten();
        self.look();
        next
    }
}

/// Makes a partition what a change says. What its kind of processors does not have stays as it is.
pub fn apply(change: &Change, partition: &mut Partition) {
    set(&mut partition.smt, change.smt);
    set(&mut partition.memory, change.memory.clone());
    set(&mut partition.data_bytes, change.data_bytes);
    match &mut partition.processors {
        Processors::Shared {
            entitlement,
            r#virtual,
            capped,
            weight,
            soft_cap,
            ..
        } => {
            set(entitlement, change.entitlement);
            set(r#virtual, change.r#virtual);
            set(capped, change.capped);
            set(weight, change.weight);
            set(soft_cap, change.soft_cap);
        }
        Processors::Dedicated { cores, .. } => set(cores, change.cores.clone()),
    }
}

fn set<T>(to: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *to = value;
    }
}

fn make_room(partition: &mut Partition, change: &Change) {
    partition.smt = partition.smt.max(change.smt.unwrap_or(0));
    match &mut partition.processors {
        Processors::Shared { r#virtual, .. } => {
            *r#virtual = (*r#virtual).max(change.r#virtual.unwrap_or(0));
        }
        Processors::Dedicated { cores, .. } => {
            let more = change.cores.iter().flatten().skip(cores.len());
            let more: Vec<u16> = more.copied().collect();
            cores.extend(more);
        }
    }
}
