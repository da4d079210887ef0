//! The processors, caches and memory of a host as a tree, whatever listing says so.
//!
//! Objects and words are hwloc's. Memory hangs beside the object whose processors are near it, as
//! in hwloc 2 and later, also where an older listing has it above them.

mod build;
mod console;
mod grouping;
mod host;
mod kind;
mod model;
mod set;

pub(crate) use build::{build, Part};
pub use console::console;
pub(crate) use host::virtual_hardware;
pub use host::Host;
pub use kind::{Kind, Share};
pub use model::{CpuKind, Distances, Info, Object, Topology};
pub(crate) use set::{Set, HIGHEST};
