//! What partitions do: locks, interrupts, loops, transactions, recordings.

#[path = "../common/mod.rs"]
mod common;

mod gangs;
mod hot_locks;
mod interrupts;
mod loads;
mod lock_queue;
mod resting;
mod sleeping_lock;
mod together;
mod trace;
mod warehouses;
