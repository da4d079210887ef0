//! Linux and Xen hosts: who may use which threads, how work lies on them, turns, siblings, queues.

pub(in crate::steady) mod affinity;
pub(in crate::steady) mod behind;
pub(in crate::steady) mod claims;
pub(in crate::steady) mod company;
pub(in crate::steady) mod fair;
pub(in crate::steady) mod idle_cores;
pub(in crate::steady) mod keepers;
pub(in crate::steady) mod neighbours;
pub(in crate::steady) mod own;
pub(in crate::steady) mod pauses;
pub(in crate::steady) mod quotas;
pub(in crate::steady) mod run_queues;
pub(in crate::steady) mod siblings;
pub(in crate::steady) mod stops;
pub(in crate::steady) mod turns;
pub(in crate::steady) mod weights;
