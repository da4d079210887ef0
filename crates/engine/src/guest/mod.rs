//! Guest operating systems: run queues, filling of logical processors, folding, where data lie and
//! how processor time is charged.
//!
//! What all guests have in common is in the files of this folder, what only one has in a room of
//! its own. The simulation sees a [`Scheduler`] and [`RunQueues`] and never asks which guest it is.

pub mod aix;
mod charge;
pub(crate) mod check;
mod gang;
pub mod generated;
mod loads;
pub mod memory;
pub mod messages;
pub mod mutex;
mod packing;
mod playback;
mod queues;
mod scheduler;
mod set;
pub mod unix;
pub mod workload;
pub mod zvm;

pub use charge::{charge, Charge, Gain};
pub use gang::Gang;
pub use loads::Loads;
pub use playback::Playback;
pub use queues::{Cpu, Filling, RunQueues};
pub use scheduler::{filled, Scheduler};
