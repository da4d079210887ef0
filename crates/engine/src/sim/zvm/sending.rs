//! A file that a server sends: which of its pages are in memory, and how many of them are on their
//! way. It is worked on piece by piece, and each piece leaves when it is done, so that a client is
//! interrupted by the first long before the last.

use super::message::Part;
use crate::devices::FileReads;

/// A file on its way to a client.
#[derive(Clone, Debug)]
pub struct Sending {
    /// What must be read of it.
    pub reads: FileReads,
    /// How long the file is [pages].
    pages: u32,
    /// Those that have come into memory.
    there: u32,
    /// Those of them that are done.
    done: u32,
    /// Those that are worked on.
    under_way: u32,
    /// The guest's instructions for each.
    each: f64,
}

impl Sending {
    /// A file of so many pages, for which there are `guest` instructions to execute.
    pub fn new(reads: FileReads, pages: u32, guest: f64) -> Self {
        Self {
            there: pages - reads.pages(),
            reads,
            pages,
            done: 0,
            under_way: 0,
            each: guest / f64::from(pages),
        }
    }

    /// Pages have come.
    pub fn has_come(&mut self, pages: u32) {
        self.there += pages;
    }

    /// What is worked on next: pages that are there, up to the end of a piece; the guest's
    /// instructions for them, and their part of the file.
    pub fn next(&mut self, pieces: u16) -> (f64, Part) {
        let end = self.end_of(self.pieces_done(pieces) + 1, pieces);
        self.under_way = self.there.min(end) - self.done;
        let pages = f64::from(self.under_way);
        let part = Part {
            share: pages / f64::from(self.pages),
            is_last: self.done + self.under_way == self.pages,
        };
        (pages * self.each, part)
    }

    /// What was worked on is done: pieces that are whole with it.
    pub fn finish(&mut self, pieces: u16) -> u16 {
        let before = self.pieces_done(pieces);
        self.done += std::mem::take(&mut self.under_way);
        self.pieces_done(pieces) - before
    }

    /// Whether it goes on only after a read.
    pub fn is_starved(&self) -> bool {
        self.done == self.there && !self.is_sent()
    }

    /// Whether all of it is done.
    pub fn is_sent(&self) -> bool {
        self.done == self.pages
    }

    fn pieces_done(&self, pieces: u16) -> u16 {
        (u64::from(self.done) * u64::from(pieces) / u64::from(self.pages)) as u16
    }

    /// Pages with which so many pieces are whole.
    fn end_of(&self, piece: u16, pieces: u16) -> u32 {
        let pages = u64::from(piece) * u64::from(self.pages);
        pages.div_ceil(u64::from(pieces)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages of each stretch, and the pieces that leave after it.
    fn stretches(pages: u32, pieces: u16, there: u32, come: &[u32]) -> Vec<(u32, u16)> {
        let mut sending = Sending::new(FileReads::default(), pages, 100.0 * f64::from(pages));
        sending.there = there;
        let (mut come, mut all) = (come.iter(), Vec::new());
        let mut guest = 0.0;
        loop {
            guest += sending.next(pieces).0;
            let worked_on = sending.under_way;
            all.push((worked_on, sending.finish(pieces)));
            if sending.is_sent() {
                assert!((guest - 100.0 * f64::from(pages)).abs() < 1e-9);
                return all;
            }
            if sending.is_starved() {
                sending.has_come(*come.next().expect("a page comes for who waits"));
            }
        }
    }

    #[test]
    fn a_file_leaves_piece_by_piece_and_waits_for_its_pages() {
        assert_eq!(stretches(48, 3, 48, &[]), [(16, 1), (16, 1), (16, 1)]);
        // Twenty pages are there, then blocks come that end within pieces.
        let read = stretches(48, 3, 20, &[20, 8]);
        assert_eq!(read, [(16, 1), (4, 0), (12, 1), (8, 0), (8, 1)]);
        // Nothing is there: the first stretch is the fault alone.
        assert_eq!(stretches(2, 1, 0, &[1, 1]), [(0, 0), (1, 0), (1, 1)]);
    }

    #[test]
    fn all_pieces_leave_whatever_the_sizes() {
        for pages in 1..60 {
            for pieces in 1..=pages as u16 {
                let all = stretches(pages, pieces, pages, &[]);
                assert_eq!(all.iter().map(|(_, left)| left).sum::<u16>(), pieces);
                assert_eq!(all.len(), usize::from(pieces));
            }
        }
    }
}
