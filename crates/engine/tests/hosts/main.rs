//! Hosts under Linux, with KVM, under Xen and in turns: what each gets, where, and what it costs.

#[path = "../common/mod.rs"]
mod common;

mod credit2;
mod groups;
mod io_threads;
mod kvm;
mod large;
mod numa;
mod pairs;
mod paravirtual;
mod placement;
mod policy;
mod round_robin;
mod siblings;
mod unsound;
mod virtualized;
mod wakeups;
