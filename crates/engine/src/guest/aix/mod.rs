//! AIX: how many virtual processors are in use.

mod fold;

pub use fold::{FoldStep, Folding, Used};
