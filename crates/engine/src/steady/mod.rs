//! Steady states without a simulation: what a layout costs while nothing changes.

mod price;

pub use price::{price, ChipPrice, Cost, PartitionPrice, PriceFault, Refill};
