//! z/VM's Control Program: who is entitled to what, where virtual processors wait, and what they do
//! in one go. Everything here is arithmetic on plain values; the simulation carries it out.

pub mod cold;
mod cores;
pub mod ids;
pub mod locks;
pub mod looks;
pub mod park;
pub mod segment;
pub mod share;
pub mod sharing;
pub mod shuffle;
pub mod vectors;
