//! The two pieces of work, in numbers, and what must come out of them.
//!
//! **W1**, a queue (M/M/64): Poisson arrivals, exponential service of mean 1 ms, 64 servers, one
//! first-come first-served queue, load 0.8. One event for an arrival, one for a completion.
//!
//! **W2**, the least hypervisor dispatcher: 64 cores and 4 machines of 30 virtual processors. Those
//! of machines 1 to 3 alternate between exponential bursts (2 ms) and sleeps (3 ms), those of
//! machine 4 never sleep. In each window of 10 ms a virtual processor is entitled to 4 ms. There is
//! one first-come first-served run queue; a dispatch lasts for the least of the rest of the burst,
//! of the entitlement and of the window. Then the virtual processor sleeps, waits for the next
//! window, or goes to the tail of the run queue. One event for a wake-up, one for the end of a
//! burst, one for the end of a slice that is not the end of a burst; the window's tick is not
//! counted.

/// Servers of W1 and cores of W2.
pub const SERVERS: usize = 64;
/// W1: mean service [ns].
pub const SERVICE_NS: u64 = 1_000_000;
/// W1: mean time between arrivals [ns], for a load of 0.8 (rounded down by a quarter).
pub const ARRIVAL_NS: u64 = SERVICE_NS * 10 / (8 * SERVERS as u64);

/// W2: virtual processors that sleep between bursts, and all of them.
pub const SLEEPERS: usize = 90;
/// W2: all virtual processors.
pub const VPS: usize = 120;
/// W2: mean burst [ns].
pub const BURST_NS: u64 = 2_000_000;
/// W2: mean sleep [ns].
pub const SLEEP_NS: u64 = 3_000_000;
/// W2: length of a window [ns].
pub const WINDOW_NS: u64 = 10_000_000;
/// W2: entitlement of a virtual processor in a window [ns].
pub const ENTITLED_NS: u64 = 4_000_000;
/// W2: the burst of a virtual processor that never sleeps [ns].
pub const ENDLESS_NS: u64 = u64::MAX >> 10;

/// What one run of W1 saw.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waits {
    /// Customers whose service began.
    pub customers: u64,
    /// Sum of their waits [ns].
    pub wait_ns: u64,
}

/// What one run of W2 saw.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dispatches {
    /// Simulated time [ns].
    pub elapsed_ns: u64,
    /// Core time given [ns].
    pub busy_ns: u64,
    /// Time between joining the run queue and the dispatch, summed [ns].
    pub ready_ns: u64,
    /// How often a virtual processor came onto a core.
    pub dispatches: u64,
    /// Wake-ups.
    pub wakes: u64,
    /// Ends of bursts.
    pub bursts: u64,
    /// Ends of slices that were not ends of bursts.
    pub slices: u64,
}

/// One number of a run and what it must be.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Answer {
    /// What it is, with its unit.
    pub name: &'static str,
    /// What came out.
    pub value: f64,
    /// What must come out.
    pub expected: f64,
    /// By how much it may differ, for chance.
    pub tolerance: f64,
}

impl Answer {
    /// Whether it came out.
    pub fn is_right(&self) -> bool {
        (self.value - self.expected).abs() <= self.tolerance
    }
}

impl Waits {
    /// Adds another run.
    pub fn add(&mut self, other: Waits) {
        self.customers += other.customers;
        self.wait_ns += other.wait_ns;
    }

    /// Erlang C: P(wait) = 0.056056, and 12.8 services a millisecond are left over.
    pub fn answers(&self) -> Vec<Answer> {
        let value = self.wait_ns as f64 / self.customers as f64 / 1e6;
        // Waits come in heaps, so that the error of their mean is eleven times that of independent
        // ones: 0.28 ms by the root of their number, found from 120 runs. Four times that is left.
        let tolerance = 4.0 * 0.28 / (self.customers as f64).sqrt();
        vec![Answer {
            name: "mean wait [ms]",
            value,
            expected: 0.004_379,
            tolerance,
        }]
    }
}

impl Dispatches {
    /// Adds another run.
    pub fn add(&mut self, other: Dispatches) {
        self.elapsed_ns += other.elapsed_ns;
        self.busy_ns += other.busy_ns;
        self.ready_ns += other.ready_ns;
        self.dispatches += other.dispatches;
        self.wakes += other.wakes;
        self.bursts += other.bursts;
        self.slices += other.slices;
    }

    /// The four figures of W2, with the tolerances that hold from 60 simulated seconds on.
    pub fn answers(&self) -> Vec<Answer> {
        let answer = |name, value, expected, tolerance| Answer {
            name,
            value,
            expected,
            tolerance,
        };
        let cores_ns = SERVERS as f64 * self.elapsed_ns as f64;
        let (wakes, bursts) = (self.wakes as f64, self.bursts as f64);
        vec![
            answer(
                "utilisation",
                self.busy_ns as f64 / cores_ns,
                0.6266,
                0.0005,
            ),
            answer(
                "ready time [us]",
                self.ready_ns as f64 / self.dispatches as f64 / 1e3,
                266.0,
                2.0,
            ),
            answer("wakes per slice", wakes / self.slices as f64, 1.609, 0.008),
            answer(
                "bursts per slice",
                bursts / self.slices as f64,
                1.609,
                0.008,
            ),
        ]
    }
}
