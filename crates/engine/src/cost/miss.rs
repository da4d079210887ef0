//! Misses by cache capacity.

use crate::spec::Profile;

/// `m(C) = m0 (1 + C/C0)^-a`, misses per instruction beyond a capacity of `C` bytes, and beside it
/// a working set that fits or does not.
///
/// The power law of cache misses with an exponent near one half is Hartstein, Srinivasan, Puzak and
/// Emma, "On the nature of cache miss behavior: is it square root of 2?" (2008); the `1 +` makes it
/// finite for an empty cache.
///
/// The lines of a working set of `W` bytes are touched `q` times an instruction, each with equal
/// chance (an index, a table of hashes, a matrix). Of `y` bytes worth of lines that go by, with one
/// line an instruction, it has then brought in `W (1 - e^(-q y/W))`, so that a cache that holds a
/// share of it saves that share of its misses, and one that holds all of it all of them. Buffers
/// that are copied from and to are such a set, which no other thread touches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MissCurve {
    /// Misses per instruction of an empty cache, but for those of the working set.
    pub m0: f64,
    /// Capacity at which the curve starts to fall [bytes].
    pub c0_bytes: f64,
    /// How steeply it falls: `a` of `(1 + C/C0)^-a`.
    pub exponent: f64,
    /// What fits or does not, if there is something.
    pub set: Option<WorkingSet>,
    /// What is copied, if something is: a thread's own, whatever it has in common with others.
    pub buffers: Option<WorkingSet>,
}

/// Lines that are touched again and again, each with equal chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkingSet {
    /// How large they are together [bytes].
    pub bytes: f64,
    /// Touches of one of them per instruction, those that the first level serves left out.
    pub touches: f64,
}

impl WorkingSet {
    /// Of so many bytes, if there are some and they are touched.
    fn of(bytes: f64, touches: f64) -> Option<Self> {
        (bytes > 0.0 && touches > 0.0).then_some(Self { bytes, touches })
    }

    fn brought(&self, passed: f64) -> f64 {
        -self.bytes * (-self.touches * passed / self.bytes).exp_m1()
    }

    fn misses(&self, passed: f64) -> f64 {
        self.touches * (-self.touches * passed / self.bytes).exp()
    }
}

impl MissCurve {
    /// The curve of a workload profile on a machine with such lines.
    pub fn of(profile: &Profile, line_bytes: u32) -> Self {
        let copies = profile.copied_bytes / f64::from(line_bytes);
        Self {
            m0: profile.miss_m0,
            c0_bytes: profile.miss_c0_bytes,
            exponent: profile.miss_exponent,
            set: WorkingSet::of(profile.working_set_bytes, profile.working_set_touches),
            buffers: WorkingSet::of(profile.buffers_bytes, copies),
        }
    }

    /// Misses per instruction beyond `bytes` of cache.
    pub fn at(&self, bytes: f64) -> f64 {
        if self.has_no_sets() {
            return self.by_law(bytes);
        }
        let passed = self.passed(bytes);
        self.usual_after(passed) + self.copies_after(passed)
    }

    /// Those of them that are no copies.
    pub fn usual_at(&self, bytes: f64) -> f64 {
        if self.has_no_sets() {
            return self.by_law(bytes);
        }
        self.usual_after(self.passed(bytes))
    }

    /// Those of them that are copies.
    pub fn copies_at(&self, bytes: f64) -> f64 {
        match self.buffers {
            None => 0.0,
            Some(_) => self.copies_after(self.passed(bytes)),
        }
    }

    fn by_law(&self, bytes: f64) -> f64 {
        let capacities = 1.0 + bytes / self.c0_bytes;
        // A square root takes a fraction of the time of a power, and most work has this exponent.
        if self.exponent == 0.5 {
            self.m0 / capacities.sqrt()
        } else {
            self.m0 * capacities.powf(-self.exponent)
        }
    }

    fn has_no_sets(&self) -> bool {
        self.set.is_none() && self.buffers.is_none()
    }

    /// Whether it never misses.
    pub fn is_nothing(&self) -> bool {
        self.m0 <= 0.0 && self.has_no_sets()
    }

    /// The most that a thread of it can bring in [bytes].
    pub fn most(&self) -> f64 {
        if self.m0 > 0.0 || self.has_no_sets() {
            return f64::INFINITY;
        }
        self.set.map_or(0.0, |set| set.bytes) + self.most_copied()
    }

    /// What of that are its buffers [bytes].
    pub fn most_copied(&self) -> f64 {
        self.buffers.map_or(0.0, |set| set.bytes)
    }

    /// Bytes brought into an empty cache while so many bytes of lines go by, one an instruction.
    pub fn brought(&self, passed: f64) -> f64 {
        self.usual_brought(passed) + self.copies_brought(passed)
    }

    /// Those of them that are no copies.
    pub fn usual_brought(&self, passed: f64) -> f64 {
        let set = self.set.map_or(0.0, |set| set.brought(passed));
        self.brought_by_law(passed) + set
    }

    /// Those of them that are copies.
    pub fn copies_brought(&self, passed: f64) -> f64 {
        self.buffers.map_or(0.0, |set| set.brought(passed))
    }

    /// Misses per instruction, copies left out, after so many bytes of lines went by.
    pub fn usual_after(&self, passed: f64) -> f64 {
        let law = self.by_law(self.brought_by_law(passed));
        law + self.set.map_or(0.0, |set| set.misses(passed))
    }

    /// Copies among the misses per instruction then.
    pub fn copies_after(&self, passed: f64) -> f64 {
        self.buffers.map_or(0.0, |set| set.misses(passed))
    }

    fn brought_by_law(&self, passed: f64) -> f64 {
        // Nothing has come in yet: roots are dear where a cache is asked for again and again.
        if self.m0 <= 0.0 || passed <= 0.0 {
            return 0.0;
        }
        let grown = 1.0 + (1.0 + self.exponent) * self.m0 * passed / self.c0_bytes;
        let capacities = if self.exponent == 0.5 {
            let root = grown.cbrt();
            root * root
        } else {
            grown.powf(1.0 / (1.0 + self.exponent))
        };
        self.c0_bytes * (capacities - 1.0)
    }

    /// What must go by until so many bytes were brought in. It starts below, and what is brought in
    /// rises ever more slowly, so that no step goes too far.
    fn passed(&self, bytes: f64) -> f64 {
        if bytes >= self.most() {
            return f64::INFINITY;
        }
        let touches = |set: Option<WorkingSet>| set.map_or(0.0, |set| set.touches);
        let mut passed = bytes / (self.m0 + touches(self.set) + touches(self.buffers));
        for _ in 0..100 {
            let misses = self.usual_after(passed) + self.copies_after(passed);
            let step = (bytes - self.brought(passed)) / misses;
            passed += step;
            if step <= 1e-12 * passed {
                break;
            }
        }
        passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_with_four_times_the_cache() {
        let curve = MissCurve {
            m0: 0.05,
            c0_bytes: 1024.0,
            exponent: 0.5,
            set: None,
            buffers: None,
        };
        // (1 + 3)^-0.5 = 1/2, (1 + 15)^-0.5 = 1/4
        assert!((curve.at(3.0 * 1024.0) - 0.025).abs() < 1e-15);
        assert!((curve.at(15.0 * 1024.0) - 0.0125).abs() < 1e-15);
        assert_eq!(curve.at(0.0), 0.05);
    }

    #[test]
    fn the_root_is_the_power_of_one_half() {
        for step in 0..200 {
            let bytes = 1024.0 * 1.1_f64.powi(step);
            let curve = MissCurve {
                m0: 0.05,
                c0_bytes: 32_768.0,
                exponent: 0.5,
                set: None,
                buffers: None,
            };
            let power = 0.05 * (1.0 + bytes / 32_768.0).powf(-0.5);
            assert!((curve.at(bytes) / power - 1.0).abs() < 1e-12);
        }
    }

    fn with_set(m0: f64) -> MissCurve {
        MissCurve {
            m0,
            c0_bytes: 32_768.0,
            exponent: 0.5,
            set: Some(WorkingSet {
                bytes: 1e6,
                touches: 0.01,
            }),
            buffers: None,
        }
    }

    #[test]
    fn a_cache_saves_the_share_of_a_working_set_that_it_holds() {
        let curve = with_set(0.0);
        for share in [0.0, 0.25, 0.5, 0.99] {
            assert!((curve.at(share * 1e6) - 0.01 * (1.0 - share)).abs() < 1e-12);
        }
        assert_eq!([curve.at(1e6), curve.at(1e9)], [0.0, 0.0]);
    }

    #[test]
    fn beside_other_lines_a_set_needs_room_of_its_own() {
        let (both, law) = (
            with_set(0.05),
            MissCurve {
                set: None,
                ..with_set(0.05)
            },
        );
        assert!((both.at(0.0) - 0.06).abs() < 1e-15);
        // Far beyond it only the others miss, which have what the set leaves.
        assert!((both.at(1e9) / law.at(1e9 - 1e6) - 1.0).abs() < 1e-9);
        let mut before = f64::INFINITY;
        for step in 0..400 {
            let bytes = 1024.0 * 1.04_f64.powi(step);
            let misses = both.at(bytes);
            // It falls, and what is brought in is what is missed.
            assert!(misses < before && misses > law.at(bytes));
            let passed = both.passed(bytes);
            assert!((both.brought(passed) / bytes - 1.0).abs() < 1e-9);
            before = misses;
        }
    }
}
