//! PR/SM: shares, caps, and time given to holders of locks.

#[path = "../common/mod.rs"]
mod common;

mod capping;
mod confer;
mod lent;
mod parking;
mod shares;
