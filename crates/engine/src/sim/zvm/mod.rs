//! z/VM's Control Program (CP) in a partition: virtual processors of virtual machines on the
//! partition's logical processors.
//!
//! ```text
//! PR/SM    puts logical cores (virtual processors of the partition) on cores         sim::dispatch
//! CP       puts virtual processors of virtual machines on logical processors         here
//! guests   take messages, work, send messages over virtual switches, read pages       here
//! ```
//! What a virtual processor does between two looks of CP is a segment, one event long. The time
//! that goes by while a segment runs is put down to guest, chargeable and system time by the
//! segment's own shares, so that the three add up to the busy time.

mod costs;
mod dispatch;
mod paging;
mod parking;
mod progress;
mod reload;
mod rows;
mod sharing;
mod signals;
pub(super) mod state;
mod web;
