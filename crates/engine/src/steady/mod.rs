//! Steady states without a simulation: what a layout costs while nothing changes.

mod chain;
mod demand;
mod dispatches;
mod fault;
mod filling;
mod form;
mod grants;
mod homes;
mod overflow;
mod price;
mod settle;
mod share;
mod solve;
mod state;

pub use fault::SolveFault;
pub use price::{price, ChipPrice, Cost, PartitionPrice, PriceFault, Refill};
pub use solve::{solve, Layouts, Solved, SolvedPartition};
