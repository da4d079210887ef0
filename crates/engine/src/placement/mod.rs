//! Which machine each of many partitions goes to, where machines have several resources, services
//! have rules, and moves cost.
//!
//! The start is sound, and so is every assignment after it: no capacity is exceeded (what has moved
//! away still holds its transient resources), the partitions of a service are on machines of their
//! own and in enough locations, and whom a service depends on is in the same neighbourhood. Costs
//! are whole numbers: load above safety capacities, what is left of one resource without enough of
//! another, and moves. Terms are those of the ROADEF/EURO challenge of 2012, "machine
//! reassignment".
//!
//! Simulated annealing over shifts, swaps and short chains; what a move adds is worked out from the
//! machines it touches. Draws lean to machines where a partition can ever be and, while it is hot,
//! to the heaviest: few machines have room for these, and once it is cold nobody yields to them.
//! S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, "Optimization by simulated annealing", Science 220,
//! 1983. Knows no clock: who calls says how much of the time is gone.

mod annealing;
mod assignment;
mod check;
mod compound;
mod fault;
mod kin;
mod known;
mod load;
mod moves;
mod problem;
mod reach;
mod services;
mod team;

pub use assignment::{Assignment, Step};
pub use check::check;
pub use fault::PlacementFault;
pub use known::Known;
pub use moves::{draw, Leaning, Move};
pub use problem::{Balance, Problem, Weights};
pub use team::{place, Limits, Placed};
