//! What a partition's memory must satisfy.

use crate::check::{range, Checked, Owner, SpecFault, Wrong};
use crate::guest::memory;
use crate::machine::Topology;
use crate::spec::{MemoryPart, Partition, Spec};

/// Largest size that anything may have [bytes]: a pebibyte, so that no sum overflows.
const MOST_BYTES: u64 = 1 << 50;
/// Most parts of a partition's memory.
const MOST_PARTS: usize = 4096;

pub(crate) fn check(spec: &Spec, partition: &Partition, owner: &Owner) -> Checked {
    let domains = Topology::new(&spec.machine).domains().len();
    let parts = partition.memory.len();
    if parts > MOST_PARTS {
        let most = format!("at most {MOST_PARTS}");
        return Err(range(
            owner,
            ("memory parts", "memory"),
            parts as f64,
            &most,
        ));
    }
    for (at, part) in partition.memory.iter().enumerate() {
        check_part(part, domains, &owner.within(&format!("memory/{at}")))?;
    }
    let io = partition.io_domain;
    if let Some(domain) = io.filter(|domain| usize::from(*domain) >= domains) {
        return Err(no_domain(&owner.within("io_domain"), domain, domains));
    }
    let bytes: u64 = partition.memory.iter().map(|part| part.bytes).sum();
    if bytes == 0 {
        return Err(range(owner, "memory", 0.0, "above 0 bytes in all"));
    }
    if partition.data_bytes == 0 || partition.data_bytes > bytes {
        let (value, most) = (partition.data_bytes as f64, format!("1 to {bytes}"));
        return Err(range(owner, "data_bytes", value, &most));
    }
    let page = partition.page_bytes;
    if page == 0 || page > MOST_BYTES {
        let most = format!("1 to {MOST_BYTES}");
        return Err(range(owner, "page_bytes", page as f64, &most));
    }
    let share = partition.hypervisor_share;
    if !(0.0..=0.9).contains(&share) {
        return Err(range(owner, "hypervisor_share", share, "0 to 0.9"));
    }
    Ok(())
}

/// With the strict policy every domain's memory must hold what its processors allocate. All other
/// indices of the spec must have been checked.
pub(crate) fn check_room(spec: &Spec) -> Checked {
    let tree = Topology::new(&spec.machine);
    for (at, partition) in spec.partitions.iter().enumerate() {
        if let Some(lack) = memory::no_room(&tree, partition) {
            let owner = Owner::partition(spec, at).within("memory_policy");
            return Err(owner.refuse(Wrong::NoRoom {
                domain: lack.domain.into(),
                asked_bytes: lack.asked.ceil(),
                there_bytes: lack.there,
            }));
        }
    }
    Ok(())
}

fn check_part(part: &MemoryPart, domains: usize, owner: &Owner) -> Checked {
    if part.domains.is_empty() {
        return Err(range(
            owner,
            ("domains of a memory part", "domains"),
            0.0,
            "1 or more",
        ));
    }
    let mut all = part.domains.iter();
    if let Some(domain) = all.find(|domain| usize::from(**domain) >= domains) {
        return Err(no_domain(&owner.within("domains"), *domain, domains));
    }
    let mut sorted = part.domains.clone();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        let what = Wrong::Twice {
            what: "in a memory part, domain".into(),
            name: pair[0].to_string(),
        };
        return Err(owner.within("domains").refuse(what));
    }
    if part.bytes > MOST_BYTES {
        let most = format!("at most {MOST_BYTES}");
        let what = ("bytes of a memory part", "bytes");
        return Err(range(owner, what, part.bytes as f64, &most));
    }
    Ok(())
}

fn no_domain(owner: &Owner, domain: u16, domains: usize) -> SpecFault {
    owner.not_there("memory domain", u64::from(domain), domains as u64)
}
