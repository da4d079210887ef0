//! The steps of a partition of z/VM: what work costs, clients and servers, parking.

pub(in crate::steady) mod costs;
pub(in crate::steady) mod park;
pub(in crate::steady) mod ports;
pub(in crate::steady) mod seats;
pub(in crate::steady) mod step;
pub(in crate::steady) mod turns;
pub(in crate::steady) mod web;
