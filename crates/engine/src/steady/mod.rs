//! Steady states without a simulation: what a layout costs while nothing changes.

mod answer;
mod chain;
mod compare;
mod demand;
mod dispatches;
mod fault;
mod filling;
mod form;
mod grants;
mod homes;
mod nodes;
mod overflow;
mod price;
mod scope;
mod settle;
mod share;
mod solve;
mod state;

pub use answer::{Compared, Solved, SolvedPartition};
pub use fault::SolveFault;
pub use price::{price, ChipPrice, Cost, PartitionPrice, PriceFault, Refill};
pub use solve::{solve, Layouts};
