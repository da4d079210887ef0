//! Solved layouts: laws, known answers, and the simulation.

#[path = "../common/mod.rs"]
mod common;

mod interrupts;
mod laws;
mod locks;
mod quotas;
mod sets;
mod several;
mod short;
mod slices;
mod strangers;
mod thrown;
mod turns;
mod zvm;
