//! What an instruction costs: `CPI = EICPI + EFCPI`, by where a thread runs, where its memory and
//! its sharers are, and who shares its caches.
//!
//! ```text
//! EICPI  the core part, as if the caches were infinite   (profile; stretched by SMT siblings)
//! EFCPI  the part lost to finite caches and to distance
//!        = sum over levels of misses there x latency of who serves them x (1 - overlap)
//! ```
//! A miss is served by the next cache, by another core's cache (lines that a sharer wrote, at the
//! sharer's distance) or by memory (at the distance of the memory). Latencies stretch with the load
//! of memory controllers and links. Every part is booked under one [`Book`]; the parts of an
//! instruction add up to its time, so the books of a core add up to the wall clock.
//!
//! What the machine as a whole does (who uses which cache, how loaded each link is) is a
//! [`Occupancy`], refreshed once a dispatch window, so that an event touches its own core only.

mod age;
mod beside;
mod beyond;
mod books;
mod buffers;
mod class;
mod clocks;
mod crowd;
mod directory;
mod exits;
mod fabric;
mod fixed;
mod levels;
mod lines;
pub mod lock;
mod miss;
mod mixture;
mod occupancy;
mod parts;
mod pause;
mod pipeline;
mod place;
mod port;
mod refill;
mod relief;
mod smt;
mod spread;
pub mod store;
mod stream;
mod surroundings;
mod table;
mod walks;

pub use age::{Ages, Working};
pub use beside::Company;
pub use beyond::{Beyond, Gone, Outer, Unfetched};
pub use books::{Book, Books, BOOK_COUNT, BOOK_NAMES};
pub use class::{Class, ClassId};
pub use clocks::Clocks;
pub use crowd::Crowd;
pub use fabric::Fabric;
pub use fixed::{kernel_share, working, Fixed};
pub use lines::{Lines, Source, LINE_COUNT, LINE_NAMES};
pub use miss::{MissCurve, WorkingSet};
pub use occupancy::{Occupancy, Spent};
pub use pipeline::{core_ns, core_per_ns, reference_drains};
pub use place::Place;
pub use port::{memory_delay_ns, Toll, Wants, PORT_NAMES};
pub use refill::Refill;
pub use smt::{Contention, Others, Times};
pub use spread::{Sharers, Spread};
pub use surroundings::Surroundings;
pub use table::{Rate, Table};
