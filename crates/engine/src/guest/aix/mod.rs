//! AIX: which virtual processor a waking thread gets, and how many of them are in use.

mod fill;
mod fold;

pub use fill::choose;
pub use fold::{FoldStep, Folding};
