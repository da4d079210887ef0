//! Steady states without a simulation: what a layout costs while nothing changes.

mod answer;
mod asides;
mod compare;
mod cp;
mod fault;
mod hosts;
mod interrupts;
mod layout;
mod leap;
mod price;
mod queues;
mod settle;
mod several;
mod solve;
mod swings;
mod windows;
mod zvm;

pub use answer::{Compared, Solved, SolvedPartition, SolvedZvm};
pub use fault::SolveFault;
pub use price::{price, ChipPrice, Cost, PartitionPrice, PriceFault, Refill};
pub use solve::{solve, Layouts};
