//! Policy `esxi`: shares, limits, pools and home nodes.

#[path = "../common/mod.rs"]
mod common;

mod even;
mod limits;
mod nodes;
mod pools;
mod shares;
