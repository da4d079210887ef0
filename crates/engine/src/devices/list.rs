//! What a search of a layer-3 switch's list costs.
//!
//! The list has a control block for each of the `N` VNICs on the switch. A search looks at the
//! blocks from the head on until it finds the one it wants, each with equal chance, and updates it;
//! the pointer to the next block is on the line that is updated. Three things follow, and the cost
//! of a search is their sum.
//!
//! **Length.** The block in place `j` is looked at with the chance that the wanted one is not
//! before it, `m / N` with `m = N - j + 1`: `(N + 1) / 2` blocks a search.
//!
//! **Pointer on the updated line.** `k` processors search at equal rates. Between two looks of one
//! of them at a block, the `o = k - 1` others may have updated it: updates of it by others come
//! `o / N` times for each of its own searches, its own looks `m / N` times. The line is elsewhere
//! if an update came last:
//!
//! ```text
//! elsewhere(m) = o / (o + m)
//! ```
//!
//! **Update after the find.** The found line must be the finder's own. Others hold a copy unless it
//! was the last to touch it: their looks come `o m` times for each of its own updates, hence
//! `copies(m) = o m / (o m + 1)`. To take them away is one more way to the sharers.
//!
//! So the line in place `j` travels `v(m) = m/N elsewhere(m) + copies(m)/N` times a search. It is
//! with one processor at a time; who wants it waits for those before. The processors and the lines
//! are a closed queueing network: a processor does other things for `outside` and then visits line
//! after line for a transfer `t` each. By mean value analysis with Schweitzer's estimate (P.
//! Schweitzer, Approximate analysis of multiclass closed networks of queues, 1979) one that comes
//! finds `o / k` of the mean queue, so that at a rate of `X` searches
//!
//! ```text
//! a(m) = o/k X v(m) t,   wait(m) = t min(a / (1 - a), o),   X (outside + sum v (t + wait)) = k
//! ```
//!
//! which has one solution, for the left side grows with `X`.

/// How a switch's list is searched, as seen by one processor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Searching {
    /// Control blocks on the list.
    pub elements: u32,
    /// Processors that search it, at least 1; an average, need not be whole.
    pub processors: f64,
    /// Mean time of a line from one of the others [ns].
    pub transfer_ns: f64,
    /// Mean time of a processor between two of its searches, apart from their lines [ns]; infinite
    /// if there are none.
    pub outside_ns: f64,
    /// Instructions for a control block that is found in the own caches.
    pub element_instructions: f64,
}

/// Means of one search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Search {
    /// Control blocks looked at, the one that is found included.
    pub elements: f64,
    /// Path length of the search.
    pub instructions: f64,
    /// Lines that came from another processor, or whose copies had to be taken away.
    pub transfers: f64,
    /// Time of these transfers [ns].
    pub list_ns: f64,
    /// Waiting for lines that were on their way to others [ns].
    pub line_wait_ns: f64,
}

/// Steps towards the rate of searches, of which a handful is needed.
const STEPS: u32 = 60;
/// Relative change of the rate after which it is found: a step leaves about the square of what the
/// last one left.
const PRECISION: f64 = 1e-7;

/// Travels of a list's lines in a search: what all processors that search it have in common.
#[derive(Clone, Debug)]
pub struct Travels {
    processors: f64,
    /// Of each line, from the last place of the list to the first.
    lines: Vec<f64>,
    /// Of the line that travels most.
    most: f64,
    /// Of all lines.
    all: f64,
}

/// What a processor waits for lines at some rate of searches, and how that grows with the rate.
#[derive(Clone, Copy)]
struct Wait {
    ns: f64,
    slope: f64,
}

impl Searching {
    /// What one search costs.
    pub fn search(&self) -> Search {
        Travels::of(self.elements, self.processors).search(
            self.transfer_ns,
            self.outside_ns,
            self.element_instructions,
            0.0,
        )
    }
}

impl Travels {
    /// Those on a list of so many control blocks that so many processors search, as
    /// [`Searching`] has them.
    pub fn of(elements: u32, processors: f64) -> Self {
        let mut travels = Self {
            processors: processors.max(1.0),
            lines: vec![0.0; elements.max(1) as usize],
            most: 0.0,
            all: 0.0,
        };
        travels.set_processors(processors);
        travels
    }

    /// So many processors search the list from now on.
    pub fn set_processors(&mut self, processors: f64) {
        self.processors = processors.max(1.0);
        let (n, others) = (self.lines.len() as f64, self.others());
        let mut m = 0.0;
        for line in &mut self.lines {
            m += 1.0;
            let elsewhere = others / (others + m);
            let copies = others * m / (others * m + 1.0);
            *line = (m * elsewhere + copies) / n;
        }
        self.most = self.lines.iter().fold(0.0, |most, line| line.max(most));
        self.all = self.lines.iter().sum();
    }

    fn others(&self) -> f64 {
        (self.processors - 1.0).max(0.0)
    }

    /// What one search costs, as [`Searching::search`]. The wait for lines is looked for from a
    /// guess on, 0 if there is none: who knows what it was before a small change is soon answered.
    pub fn search(
        &self,
        transfer_ns: f64,
        outside_ns: f64,
        element_instructions: f64,
        guess_ns: f64,
    ) -> Search {
        let elements = (self.lines.len() as f64 + 1.0) / 2.0;
        let list_ns = self.all * transfer_ns;
        Search {
            elements,
            instructions: elements * element_instructions,
            transfers: self.all,
            list_ns,
            line_wait_ns: self.wait_ns(transfer_ns, outside_ns + list_ns, guess_ns),
        }
    }

    /// Wait for lines in a search if a processor needs `alone_ns` from search to search without
    /// waiting: Newton's steps to the rate from that of a guess, kept between two bounds.
    fn wait_ns(&self, transfer_ns: f64, alone_ns: f64, guess_ns: f64) -> f64 {
        if alone_ns <= 0.0 || alone_ns.is_infinite() || transfer_ns <= 0.0 {
            return 0.0;
        }
        let (mut low, mut high) = (0.0, self.processors / alone_ns);
        let mut rate = self.processors / (alone_ns + guess_ns);
        for _ in 0..STEPS {
            let wait = self.wait_at(transfer_ns, rate);
            let over = rate * (alone_ns + wait.ns) - self.processors;
            let step = -over / (alone_ns + wait.ns + rate * wait.slope);
            if step.abs() <= PRECISION * rate {
                return wait.ns + wait.slope * step;
            }
            if over > 0.0 {
                high = rate;
            } else {
                low = rate;
            }
            let next = rate + step;
            rate = if next > low && next < high {
                next
            } else {
                0.5 * (low + high)
            };
        }
        self.wait_at(transfer_ns, rate).ns
    }

    /// Wait for lines in a search if all processors together search so often [1/ns].
    fn wait_at(&self, transfer_ns: f64, rate: f64) -> Wait {
        let others = self.others();
        let each = others / self.processors * transfer_ns;
        let full = others / (1.0 + others);
        let (mut ns, mut slope) = (0.0, 0.0);
        let busy = each * rate;
        let free = |line: f64| {
            let load = busy * line;
            let free = 1.0 / (1.0 - load);
            (line * load * free, line * line * each * free * free)
        };
        if busy * self.most < full {
            // Two at a time, which takes half the time.
            let pairs = self.lines.chunks_exact(2);
            let last = pairs.remainder();
            let (mut waits, mut squares) = ([0.0; 2], [0.0; 2]);
            for pair in pairs {
                for half in 0..2 {
                    let load = busy * pair[half];
                    let freed = pair[half] * (1.0 / (1.0 - load));
                    waits[half] += load * freed;
                    squares[half] += freed * freed;
                }
            }
            (ns, slope) = (waits[0] + waits[1], each * (squares[0] + squares[1]));
            for line in last {
                let one = free(*line);
                ns += one.0;
                slope += one.1;
            }
        } else {
            for line in &self.lines {
                if busy * line < full {
                    let one = free(*line);
                    ns += one.0;
                    slope += one.1;
                } else {
                    ns += line * others;
                }
            }
        }
        Wait {
            ns: transfer_ns * ns,
            slope: transfer_ns * slope,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn searching(elements: u32, processors: f64) -> Searching {
        Searching {
            elements,
            processors,
            transfer_ns: 100.0,
            outside_ns: f64::INFINITY,
            element_instructions: 10.0,
        }
    }

    #[test]
    fn one_processor_meets_no_line_elsewhere() {
        let search = searching(45, 1.0).search();
        assert_eq!((search.elements, search.instructions), (23.0, 230.0));
        assert_eq!((search.transfers, search.list_ns), (0.0, 0.0));
        assert_eq!(search.line_wait_ns, 0.0);
    }

    #[test]
    fn a_list_of_one_is_a_line_that_all_write() {
        // o = 3: elsewhere 3/4, copies 3/4.
        let search = searching(1, 4.0).search();
        assert_eq!((search.elements, search.transfers), (1.0, 1.5));
    }

    #[test]
    fn two_processors_and_two_elements_by_hand() {
        // o = 1. Last place, m = 1: 1/2 elsewhere, copies 1/2; first, m = 2: 2/3 and 2/3.
        // (1/2 + 1/2 + 2/3 + 2/3) / 2, the look at the first counted twice.
        let search = searching(2, 2.0).search();
        let expected = (1.0 * 0.5 + 0.5 + 2.0 / 3.0 + 2.0 / 3.0) / 2.0;
        assert!((search.transfers - expected).abs() < 1e-12);
        assert!((search.list_ns - 100.0 * expected).abs() < 1e-9);
    }

    #[test]
    fn among_endless_processors_every_line_is_elsewhere() {
        let search = searching(45, 1e12).search();
        assert!((search.transfers - (search.elements + 1.0)).abs() < 1e-6);
    }

    #[test]
    fn rare_searches_do_not_meet() {
        let mut rare = searching(45, 19.0);
        rare.outside_ns = 1e12;
        assert!(rare.search().line_wait_ns < 1e-3);
        assert_eq!(searching(45, 19.0).search().line_wait_ns, 0.0);
    }

    #[test]
    fn a_line_that_all_want_serves_them_in_turn() {
        // One line, four processors, nothing else to do: 1.5 transfers a search, so that a search
        // takes the four 4 x 1.5 transfers' time in turn; Schweitzer's estimate is exact here.
        let mut closed = searching(1, 4.0);
        closed.outside_ns = 0.0;
        let search = closed.search();
        assert!((search.list_ns + search.line_wait_ns - 4.0 * 150.0).abs() < 1e-6);
    }

    /// The rate is the same wherever it is looked for from, to what rounding leaves of it.
    #[test]
    fn where_it_is_looked_for_from_does_not_matter() {
        let mut guess = 0.0;
        for (step, outside) in [1e3, 1.1e3, 9e3, 5e5, 1e4, 0.0, 2.0]
            .into_iter()
            .enumerate()
        {
            let mut travels = Travels::of(45, 19.0);
            travels.set_processors(19.0 + step as f64);
            let known = travels.search(100.0, outside, 10.0, guess);
            let unknown = travels.search(100.0, outside, 10.0, 0.0);
            guess = known.line_wait_ns;
            let off = known.line_wait_ns / unknown.line_wait_ns - 1.0;
            assert!(off.abs() < 1e-11, "{outside}: {off:e}");
        }
    }

    #[test]
    fn waits_grow_with_rate_and_stay_below_all_others() {
        let mut last = 0.0;
        for outside in [1e7, 1e6, 1e5, 1e4, 1e3, 0.0] {
            let mut busy = searching(220, 95.0);
            busy.outside_ns = outside;
            let search = busy.search();
            assert!(search.line_wait_ns > last);
            assert!(search.line_wait_ns <= 94.0 * search.list_ns);
            last = search.line_wait_ns;
        }
    }
}
