//! What partitions run.

use serde::{Deserialize, Serialize};

use super::profile::Profile;

/// What a partition runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Workload {
    /// Open Poisson arrivals; a transaction alternates processor bursts and waits.
    Transactions {
        /// Arrivals [1/s].
        rate_per_s: f64,
        /// Mean number of bursts of a transaction (geometric, at least 1).
        bursts: f64,
        /// Mean wait between two bursts [ns] (exponential).
        wait_ns: u64,
        /// Distribution of a burst's work.
        burst_work: Distribution,
    },
    /// A fixed number of users with think time; each interaction is a transaction.
    Users {
        /// Users.
        count: u32,
        /// Mean think time [ns].
        think_ns: u64,
        /// Mean number of bursts of a transaction (geometric, at least 1).
        bursts: f64,
        /// Mean wait between two bursts [ns] (exponential).
        wait_ns: u64,
        /// Distribution of a burst's work.
        burst_work: Distribution,
        /// Distribution of the think time.
        #[serde(default = "exponential")]
        think: Distribution,
    },
    /// `count` processor-bound jobs started together; each ends after `instructions_per_unit`, or
    /// never if `endless`.
    Loops {
        /// Jobs.
        count: u32,
        /// Whether a finished job starts again at once.
        endless: bool,
        /// How long endless ones are busy at a time, by the clock and from time 0 on; 0 = always
        /// [ns]. Each ends the loop that it is at.
        #[serde(default)]
        busy_ns: u64,
        /// How long they rest then [ns].
        #[serde(default)]
        rest_ns: u64,
    },
    /// A fixed number of threads that do transaction after transaction without a pause.
    Warehouses {
        /// Threads.
        count: u32,
    },
    /// Pairs of threads, a client and a server each: the client asks and sleeps, the server works,
    /// answers and sleeps, so that each wakes the other. Closed. As plain processes of a Linux host
    /// they are two threads a pair, of which virtual processor `2 * pair` is the client.
    Pairs {
        /// Pairs.
        count: u32,
        /// Requests of a transaction, each with its answer.
        exchanges: u32,
        /// Share of a transaction's instructions that the client executes (0..1).
        client_share: f64,
        /// Mean time between a transaction and the next one [ns].
        think_ns: u64,
        /// Its distribution.
        #[serde(default = "exponential")]
        think: Distribution,
        /// Distribution of the work between two messages.
        burst_work: Distribution,
        /// What a request brings, and an answer [bytes].
        #[serde(default)]
        message_bytes: u64,
        /// The thread that makes the transactions, in place of clients that think; of plain
        /// processes it has the virtual processor after those of the pairs.
        #[serde(default)]
        generator: Option<Generator>,
    },
    /// Parallel programs: all threads of one do their part of a step, wait for each other at a
    /// barrier, and begin the next step together. A step is a transaction. Closed.
    Barriers {
        /// Programs.
        count: u32,
        /// Threads of each.
        threads: u16,
        /// Distribution of a thread's part of a step.
        burst_work: Distribution,
    },
    /// Virtual machines that send requests to others over virtual switches and get files back;
    /// closed, with one connection for every client and server on a switch.
    Web {
        /// Length of a request [bytes].
        request_bytes: u64,
        /// Length of a file [bytes].
        file_bytes: u64,
        /// Files of a server; each request is for one of them, with equal chance.
        files: u32,
        /// Share of the guests' instructions of a transaction that the client executes [0..1].
        client_share: f64,
        /// Mean time between an answer and the connection's next request [ns] (exponential).
        think_ns: u64,
        /// Distribution of the guests' instructions.
        work: Distribution,
    },
    /// Recorded demand, played step by step in bursts of `instructions_per_unit` at most. What
    /// arrives in a step is exact, when it arrives within the step is left to chance: the sum was
    /// recorded, its timing was not. Warm-up plays the first step's rate; nothing comes after the
    /// last step.
    Trace {
        /// Length of each step [ns].
        lengths_ns: Vec<u64>,
        /// Work that arrives in each step [instructions/s].
        instructions_per_s: Vec<f64>,
        /// How bursts are spread over a step.
        #[serde(default, skip_serializing_if = "Spread::is_even")]
        spread: Spread,
    },
    /// Nothing but the guest's own daemons.
    Idle,
}

/// Work of a partition beside its first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Name, unique in its partition.
    pub name: String,
    /// What it does.
    pub workload: Workload,
    /// How it behaves on a processor.
    pub profile: Profile,
}

/// A thread that makes the transactions of pairs, and wakes a client for each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generator {
    /// Transactions that it makes [1/s], at random times (Poisson).
    pub rate_per_s: f64,
    /// What it executes for each.
    pub instructions: f64,
}

fn exponential() -> Distribution {
    Distribution::Exponential
}

/// How the bursts of a step are spread over it, their sum being given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Spread {
    /// One in each of as many equal parts, all of the same work: a recording tells no more.
    #[default]
    Even,
    /// As independent transactions come: a Poisson process with exponential work, of which the
    /// number and the sum are known.
    Random,
}

impl Spread {
    /// Whether it is the usual one.
    pub fn is_even(&self) -> bool {
        *self == Self::Even
    }
}

/// Shape of a random amount of work with a given mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// Always the mean.
    Constant,
    /// Exponential, with a standard deviation as large as the mean.
    Exponential,
}
