//! What a partition's guest, memory, workload and profile must satisfy.

mod interrupts;
mod memory;
mod workload;

pub(crate) use interrupts::check as check_interrupts;
pub(crate) use memory::{check as check_memory, check_room};
pub(crate) use workload::{check as check_work, check_daemon_rate, check_profile, check_steps};
