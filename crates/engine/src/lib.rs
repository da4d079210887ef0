//! Dispatch-level simulator of partitioned servers.
//!
//! No I/O, no clock, no global, no unsafe. A [`spec::Spec`] goes in, intervals and a summary come
//! out ([`sim::run`]).
//!
//! What a layout costs while nothing changes needs no simulation ([`steady::price`]).
//!
//! Which machine each of many partitions goes to is another question ([`placement::place`]).
//!
//! One folder a subject, each understandable alone, in this order of dependency: [`machine`],
//! [`kernel`], [`cost`], [`guest`], [`hypervisor`], [`devices`], [`sim`], [`steady`].

mod check;
pub mod cost;
pub mod devices;
pub mod guest;
pub mod hypervisor;
pub mod ids;
pub mod kernel;
pub mod machine;
pub mod placement;
pub mod sim;
pub mod spec;
pub mod steady;
pub mod walk;
