//! PowerVM: guarantees, what others leave, and how guests fill virtual processors.

#[path = "../common/mod.rs"]
mod common;

mod excess;
mod guarantee;
mod home_chips;
mod packing;
