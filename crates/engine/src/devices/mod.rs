//! Devices: virtual switches, and paging volumes behind a storage server.
//!
//! Neither knows processors: a switch says what a search of its list costs for given sharers, the
//! [`Pager`] takes requests and says when they are done. What a device does by chance comes from
//! named streams, so that it moves nobody else's.

mod channels;
pub(crate) mod check;
mod list;
pub mod memory;
mod pager;
mod storage;
mod switch;
mod volumes;

pub use list::{Search, Searching, Travels};
pub use memory::FileReads;
pub use pager::{Done, Pager, PagerCounters, Started};
pub use storage::{hit_share, StorageCounters};
pub use switch::{Parcel, Switch, SwitchCounters};
pub use volumes::VolumeCounters;
