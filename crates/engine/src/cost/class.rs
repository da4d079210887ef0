//! A cost class: what an instruction of one partition costs on one chip with so many threads busy
//! on the core.

use super::books::Books;
use super::lines::Lines;
use super::port::Wants;

/// Index of a class in the [`Table`](super::Table).
pub type ClassId = u32;

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

impl Class {
    /// What an instruction costs on average where shares of the time are spent in several classes;
    /// those without a time have none.
    pub fn mean<'a>(parts: impl Iterator<Item = (f64, &'a Self)> + Clone) -> Self {
        let counted = parts.filter(|(share, class)| *share > 0.0 && class.ns > 0.0);
        let all: f64 = counted.clone().map(|(share, class)| share / class.ns).sum();
        let mut mean = Self::default();
        for (share, class) in counted {
            mean.add_scaled(class, share / class.ns / all);
        }
        mean
    }

    fn add_scaled(&mut self, other: &Self, factor: f64) {
        self.books.add_scaled(&other.books, factor);
        self.lines.add_scaled(&other.lines, factor);
        self.wants.add_scaled(&other.wants, factor);
        for (mine, theirs) in self.reload_ns.iter_mut().zip(other.reload_ns) {
            *mine += theirs * factor;
        }
        for (mine, theirs) in [
            (&mut self.ns, other.ns),
            (&mut self.reload_lines, other.reload_lines),
            (&mut self.wait_ns, other.wait_ns),
            (&mut self.memory_lines, other.memory_lines),
            (&mut self.shared_lines, other.shared_lines),
            (&mut self.fill_lines, other.fill_lines),
            (&mut self.private_lines, other.private_lines),
        ] {
            *mine += theirs * factor;
        }
    }
}
