//! Devices: virtual switches and paging volumes.

use serde::{Deserialize, Serialize};

/// A virtual switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// Name, unique in the partition.
    pub name: String,
    /// How it finds the receiver of a frame.
    pub layer: Layer,
    /// Payload of a frame [bytes].
    pub frame_bytes: u32,
}

/// How a switch finds the receiver of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// By hardware address, in a table.
    Ethernet,
    /// By IP address, in a list of control blocks that is searched from its head.
    Ip,
}

/// Paging volumes behind one storage server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paging {
    /// How many there are, over all control units.
    pub volumes: u16,
    /// Control units over which they are spread evenly.
    pub control_units: u16,
    /// Aliases (HyperPAV) of each control unit; each lets one more request of its volumes be on
    /// its way.
    pub aliases: u16,
    /// Channel programs in transport mode (zHPF) instead of command mode.
    pub transport: bool,
    /// Channels to the storage server, which its control units share; 0 = they are never the
    /// limit. A channel program in command mode has one for as long as it is connected.
    #[serde(default)]
    pub paths: u16,
    /// Time of a channel for an exchange in transport mode [ns].
    #[serde(default)]
    pub exchange_ns: u64,
    /// Time in which a page crosses a channel's link, one way, in transport mode [ns].
    #[serde(default)]
    pub link_page_ns: u64,
    /// Size of all volumes together [bytes].
    pub bytes: u64,
    /// Pages of a block: they leave memory together and come back together, as far as there are
    /// free frames.
    pub block_pages: u16,
    /// Share of stolen pages that were changed since they came in, so that they must be written
    /// [0..1].
    pub changed: f64,
    /// Share of central memory that holds guest pages (the rest is CP's) [0..1].
    pub guest_frames: f64,
    /// Time from the start of an I/O until its channel program runs at the volume [ns].
    pub pend_ns: u64,
    /// Connect time of an I/O in transport mode, pages apart [ns].
    pub connect_ns: u64,
    /// More connect time of an I/O in command mode, for each page [ns].
    pub command_page_ns: u64,
    /// Connect time of a page [ns].
    pub page_ns: u64,
    /// The storage server.
    pub storage: StorageServer,
}

/// A storage server with a read cache before its disks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorageServer {
    /// Paged data that its read cache holds [bytes].
    pub cache_bytes: u64,
    /// Pages that come into the cache with a read that missed it, so that the reads of the rest of
    /// them hit.
    pub stage_pages: f64,
    /// Disks that serve what the cache lacks; data is spread over them evenly.
    pub disks: u16,
    /// Mean time of a disk for one request, seek and turn [ns].
    pub disk_ns: u64,
}
