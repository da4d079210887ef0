//! Steady states without a simulation: what a layout costs while nothing changes.

mod answer;
mod chain;
mod claims;
mod compare;
mod demand;
mod dispatches;
mod fault;
mod filling;
mod form;
mod grants;
mod halts;
mod homes;
mod host;
mod nodes;
mod overflow;
mod price;
mod scope;
mod seats;
mod settle;
mod share;
mod siblings;
mod solve;
mod state;
mod threads;
mod turns;
mod zvm_costs;
mod zvm_cp;
mod zvm_crowd;
mod zvm_guests;
mod zvm_park;
mod zvm_shares;
mod zvm_step;

pub use answer::{Compared, Solved, SolvedPartition, SolvedZvm};
pub use fault::SolveFault;
pub use price::{price, ChipPrice, Cost, PartitionPrice, PriceFault, Refill};
pub use solve::{solve, Layouts};
