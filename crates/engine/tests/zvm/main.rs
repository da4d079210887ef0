//! z/VM: shares, processors, locks, paging, and virtual machines that are served.

#[path = "../common/mod.rs"]
mod common;

mod daemons;
mod limits;
mod locks;
mod nested;
mod pager;
mod paging;
mod polarization;
mod pools;
mod scheduler;
mod served;
mod shares;
mod switch;
mod threads;
mod unsound;
mod volumes;
mod waking;
