//! libvirt's XML: `virsh capabilities` of a host, and domains as `virsh dumpxml` prints them, one
//! or several in a text.
//!
//! Of a host is read: architecture and model of the processor, cells of memory with their
//! processors and distances, caches. Of a domain: name, processors and their limits and pins
//! (`vcpu`, `cputune`), memory and where it is bound (`numatune`), what the guest is shown of it
//! (`cpu/topology`, `cpu/numa`). Not read: devices, security, features of the processor.

mod capabilities;
mod domain;
mod values;

pub use capabilities::read as read_capabilities;
pub use domain::{read as read_domains, Bound, Cell, Domain, Pin, Shape};
