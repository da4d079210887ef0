//! A cost class: what an instruction of one partition costs on one chip with so many threads busy
//! on the core.

use super::books::Books;
use super::lines::Lines;
use super::port::Wants;

/// Cost of an instruction at a [`Place`](super::Place).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Class {
    /// Time of one instruction of one thread [ns].
    pub ns: f64,
    /// That time by cause; adds up to `ns`.
    pub books: Books,
    /// Lines that one instruction brings into the first cache level, by source.
    pub lines: Lines,
    /// Extra time of an instruction while the caches are refilled, by where the lines lie [ns].
    pub reload_ns: [f64; 3],
    /// Lines refilled by one instruction.
    pub reload_lines: f64,
    /// Waits at ports of the fabric of which more is asked than they carry; part of `ns` [ns].
    pub wait_ns: f64,
    /// Lines fetched by one instruction, as the fabric sees them.
    pub wants: Wants,
    /// Lines fetched from memory by one instruction.
    pub memory_lines: f64,
    /// Lines fetched from another core's cache by one instruction.
    pub shared_lines: f64,
    /// Lines that one instruction brings into the core's private caches.
    pub fill_lines: f64,
    /// Lines a core's private caches hold for one of its threads.
    pub private_lines: f64,
}
