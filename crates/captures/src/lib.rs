//! Bytes of a performance tool's output to tables, and back.
//!
//! Never touches the running system; knows no engine. Each tool has a module with `parse` and
//! `format`; names of columns and labels stay those of the tool. A parser takes the whole text or
//! none of it: what it does not know is an error that names the line, never skipped. Listings of
//! partitions (`vparstatus`, `parstatus`) come from people's notes as often as from the tool; of
//! these a parser takes what it knows and says in a remark, with the line, what it left out.
//!
//! ```
//! let text = "\nSystem configuration: type=Dedicated mode=Capped smt=4 lcpu=4 mem=4096MB\n\n\
//!             %user  %sys  %wait  %idle\n----- ----- ------ ------\n  5.6   5.0    0.5   88.9\n";
//! let capture = homenode_captures::lparstat::parse(text)?;
//! assert_eq!(capture.sections[0].tables[0].columns, ["%user", "%sys", "%wait", "%idle"]);
//! assert_eq!(homenode_captures::lparstat::format(&capture), text);
//! # Ok::<(), homenode_captures::CaptureError>(())
//! ```

mod amount;
mod blocks;
mod capture;
mod configuration;
mod damage;
mod decode;
mod error;
pub mod fcx;
mod heading;
pub mod hmc;
pub mod hwloc;
pub mod hyptop;
mod json;
mod layout;
pub mod libvirt;
mod lines;
pub mod lparcfg;
pub mod lparstat;
pub mod lscpu;
mod lssrad;
pub mod monwrite;
pub mod mpstat;
pub mod njmon;
pub mod nmon;
mod number;
pub mod parstatus;
mod reading;
pub mod reports;
mod sar;
mod stamp;
pub mod sysfs;
pub mod sysinfo;
pub mod topology;
pub mod traces;
mod vmstat;
pub mod vparstatus;
pub mod xml;

pub use capture::{Capture, Report, Section, Table, Value};
pub use damage::Lenient;
pub use decode::{decode, Decoded};
pub use error::CaptureError;
pub use number::{Number, Unit};
pub use reading::{Place, Reading, Remark};
