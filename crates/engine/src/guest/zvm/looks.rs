//! What a processor does while it spins for a lock: it loads the lock's line, compares, and stops
//! until the line is another's or a delay is over (z/Architecture's compare and delay). So it
//! takes time and few instructions.

/// How a processor looks at a lock that somebody else holds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Looks {
    /// Path of a look: load, compare, stop, branch.
    pub instructions: f64,
    /// Time for which a processor stops if the line stays [ns].
    pub delay_ns: f64,
}

impl Looks {
    /// Instructions executed while somebody spins for so long, where the lock goes from hand to
    /// hand once in `turn_ns`: its line is written when it is given back and when it is taken.
    pub fn during(&self, spins_ns: f64, turn_ns: f64) -> f64 {
        let stays_ns = 0.5 * turn_ns;
        let each_ns = if stays_ns > 0.0 {
            stays_ns.min(self.delay_ns)
        } else {
            self.delay_ns
        };
        spins_ns / each_ns * self.instructions
    }
}

#[cfg(test)]
mod tests {
    use super::Looks;

    #[test]
    fn who_spins_looks_when_the_line_has_changed_or_the_delay_is_over() {
        let looks = Looks {
            instructions: 5.0,
            delay_ns: 100.0,
        };
        assert_eq!(looks.during(0.0, 50.0), 0.0);
        // Twice a turn of 50 ns; then once a delay, however long a turn is.
        assert_eq!(looks.during(1_000.0, 50.0), 200.0);
        assert_eq!(looks.during(1_000.0, 200.0), 50.0);
        assert_eq!(looks.during(1_000.0, 1e6), 50.0);
        assert_eq!(looks.during(1_000.0, 0.0), 50.0);
    }
}
