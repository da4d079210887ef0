//! A segment: what a virtual processor, or the Control Program itself, does in one go on a logical
//! processor. Its instructions cost what the partition's class says; on top of them is time that is
//! no instruction of that class: spinning, lines that come from elsewhere, refilling caches.

use crate::cost::Book;

/// To whom processor time is put down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Owner {
    /// The guest's own instructions.
    Guest,
    /// The Control Program, for one guest.
    Chargeable,
    /// The Control Program, for nobody in particular.
    System,
}

/// Owners of time.
pub const OWNERS: usize = 3;

/// Books of a segment's extra time, in the order of [`Extra::books`].
pub const EXTRA_BOOKS: [Book; 6] = [
    Book::CacheChip,
    Book::CacheNear,
    Book::CacheFar,
    Book::Spin,
    Book::List,
    Book::Reload,
];
const SPIN: usize = 3;
const LIST: usize = 4;
const RELOAD: usize = 5;

/// Time that is no instruction of the class [ns].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Extra {
    /// By book, in the order of [`EXTRA_BOOKS`].
    pub books: [f64; EXTRA_BOOKS.len()],
    /// By owner.
    pub owners: [f64; OWNERS],
    /// Instructions executed while spinning.
    pub spin_instructions: f64,
    /// Lines that came from another core's cache, by distance.
    pub lines: [f64; 3],
    /// All extra time together.
    pub ns: f64,
}

impl Extra {
    #[inline]
    fn add(&mut self, owner: Owner, book: usize, ns: f64) {
        self.books[book] += ns;
        self.owners[owner as usize] += ns;
        self.ns += ns;
    }

    /// Adds a part of another one, the time of which counts by `share`.
    #[inline]
    pub fn add_part(&mut self, other: &Extra, part: f64, share: f64) {
        let time = part * share;
        add(&mut self.books, &other.books, time);
        add(&mut self.owners, &other.owners, time);
        self.spin_instructions += other.spin_instructions * part;
        add(&mut self.lines, &other.lines, part);
        self.ns += other.ns * time;
    }
}

/// What is done in one go.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Segment {
    /// Instructions of the class, by owner.
    pub instructions: [f64; OWNERS],
    /// Time on top of them.
    pub extra: Extra,
}

impl Segment {
    /// Adds instructions.
    #[inline]
    pub fn execute(&mut self, owner: Owner, instructions: f64) {
        self.instructions[owner as usize] += instructions;
    }

    /// Adds a wait spent spinning.
    #[inline]
    pub fn spin(&mut self, owner: Owner, ns: f64, instructions: f64) {
        self.extra.add(owner, SPIN, ns);
        self.extra.spin_instructions += instructions;
    }

    /// Adds lines that come from other cores' caches, by distance; `ns` is the latency of each.
    #[inline]
    pub fn fetch(&mut self, owner: Owner, lines: [f64; 3], ns: [f64; 3]) {
        for distance in 0..3 {
            self.extra.lines[distance] += lines[distance];
            self.extra
                .add(owner, distance, lines[distance] * ns[distance]);
        }
    }

    /// Adds time in a virtual switch's list, and the lines that came in it, by distance.
    #[inline]
    pub fn search(&mut self, owner: Owner, ns: f64, lines: [f64; 3]) {
        self.extra.add(owner, LIST, ns);
        for (all, lines) in self.extra.lines.iter_mut().zip(lines) {
            *all += lines;
        }
    }

    /// Adds time in which the caches are refilled.
    #[inline]
    pub fn reload(&mut self, ns: f64) {
        self.extra.add(Owner::Guest, RELOAD, ns);
    }

    /// Instructions of all owners.
    #[inline]
    pub fn all_instructions(&self) -> f64 {
        self.instructions.iter().sum()
    }

    /// Share of each owner in the instructions.
    #[inline]
    pub fn shares(&self) -> [f64; OWNERS] {
        let all = self.all_instructions();
        if all > 0.0 {
            self.instructions.map(|n| n / all)
        } else {
            [0.0, 0.0, 1.0]
        }
    }

    /// What is left of it: `instructions` of the class and `extra_ns` on top.
    pub fn rest(&self, instructions: f64, extra_ns: f64) -> Self {
        let part = |left: f64, all: f64| if all > 0.0 { left.max(0.0) / all } else { 0.0 };
        let done = part(instructions, self.all_instructions());
        let extra = part(extra_ns, self.extra.ns);
        Self {
            instructions: self.instructions.map(|n| n * done),
            extra: Extra {
                books: self.extra.books.map(|ns| ns * extra),
                owners: self.extra.owners.map(|ns| ns * extra),
                spin_instructions: self.extra.spin_instructions * extra,
                lines: self.extra.lines.map(|n| n * extra),
                ns: self.extra.ns * extra,
            },
        }
    }

    /// Puts another segment before it.
    #[inline]
    pub fn follow(&mut self, first: &Segment) {
        self.repeat(first, 1.0);
    }

    /// Adds another segment, so many times.
    #[inline]
    pub fn repeat(&mut self, other: &Segment, times: f64) {
        add(&mut self.instructions, &other.instructions, times);
        self.extra.add_part(&other.extra, times, 1.0);
    }
}

#[inline]
fn add<const N: usize>(mine: &mut [f64; N], theirs: &[f64; N], times: f64) {
    for (a, b) in mine.iter_mut().zip(theirs) {
        *a += b * times;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Segment {
        let mut segment = Segment::default();
        segment.execute(Owner::Guest, 600.0);
        segment.execute(Owner::System, 200.0);
        segment.spin(Owner::Chargeable, 30.0, 60.0);
        segment.fetch(Owner::System, [1.0, 0.0, 2.0], [5.0, 9.0, 10.0]);
        segment.search(Owner::Chargeable, 12.0, [0.0, 1.0, 0.0]);
        segment.reload(7.0);
        segment
    }

    #[test]
    fn extra_time_is_the_same_by_book_and_by_owner() {
        let extra = sample().extra;
        assert_eq!(extra.ns, 30.0 + 25.0 + 12.0 + 7.0);
        assert_eq!(extra.books.iter().sum::<f64>(), extra.ns);
        assert_eq!(extra.owners, [7.0, 42.0, 25.0]);
    }

    #[test]
    fn half_of_it_is_half_of_everything() {
        let half = sample().rest(400.0, 37.0);
        assert_eq!(half.all_instructions(), 400.0);
        assert_eq!(half.extra.ns, 37.0);
        assert_eq!(half.extra.spin_instructions, 30.0);
        assert_eq!(half.shares(), [0.75, 0.0, 0.25]);
        let mut twice = half;
        twice.follow(&half);
        assert_eq!(twice.all_instructions(), 800.0);
        assert_eq!(Segment::default().rest(0.0, 0.0), Segment::default());
    }
}
