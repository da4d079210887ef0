//! Who finds a core on the nodes of its homes.

use super::overflow::{Groups, RANKS};

/// Nodes, where entitlement counts once it is used up: each uses its own first, so that in the
/// first part of a window nobody can be thrown off.
#[derive(Clone)]
pub(super) struct Nodes {
    pub alike: Groups,
    pub ranked: Groups,
    /// Core time of those at home, and the part of it that is entitled.
    pub all: Vec<f64>,
    pub entitled: Vec<f64>,
}

impl Nodes {
    pub fn new(count: usize) -> Self {
        Self {
            all: vec![0.0; count],
            entitled: vec![0.0; count],
            alike: Groups::new(count),
            ranked: Groups::new(count),
        }
    }

    pub fn open(&mut self, at: usize, cores: f64) {
        self.alike.open(at, cores);
        self.ranked.open(at, cores);
        (self.all[at], self.entitled[at]) = (0.0, 0.0);
    }

    pub fn close(&mut self, at: usize) {
        self.alike.close(at);
        self.ranked.close(at);
    }

    pub fn lost(&self, at: usize, seats: [f64; RANKS], ranks: [f64; RANKS]) -> f64 {
        let early = self.entitled[at] / self.all[at].max(1e-12);
        let alike = self.alike.lost(at, seats, seats[1]);
        let ranked = self.ranked.lost(at, ranks, seats[1]);
        early * alike + (1.0 - early) * ranked
    }
}
