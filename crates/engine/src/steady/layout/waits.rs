//! How logical cores of PR/SM wait that are within their share.

/// How a partition's logical cores wait that are within their share.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::steady) struct Waits {
    /// Share of the time with work.
    pub time: f64,
    /// Share of the times that work comes to one that has none.
    pub comings: f64,
    /// Part of these times by which they are fewer than if the waits were spread evenly: whatever
    /// comes while all wait comes to one that has work.
    pub fewer: f64,
    /// Bursts that are queued behind those that wait, or that they have left.
    pub queued: f64,
}

impl Waits {
    /// Goes part of the way to others.
    pub fn turn_to(&mut self, to: Self, part: f64) {
        self.time += part * (to.time - self.time);
        self.comings += part * (to.comings - self.comings);
        self.fewer += part * (to.fewer - self.fewer);
        self.queued += part * (to.queued - self.queued);
    }
}
