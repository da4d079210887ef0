//! Messages between virtual processors: what arrives, and what is sent after it.

use crate::devices::{Parcel, Switch};
use crate::guest::zvm::ids::ConnectionId;
use crate::spec::Workload;

/// A message that has arrived at a virtual processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A request, at a server.
    Request(ConnectionId),
    /// An answer, at a client.
    Answer(ConnectionId),
    /// The end of a think time, at a client.
    Timer(ConnectionId),
}

impl Message {
    /// Between which client and server it goes.
    #[inline]
    pub fn connection(self) -> ConnectionId {
        match self {
            Message::Request(of) | Message::Answer(of) | Message::Timer(of) => of,
        }
    }

    /// Number of its kind.
    #[inline]
    pub fn kind(self) -> usize {
        match self {
            Message::Request(_) => 0,
            Message::Answer(_) => 1,
            Message::Timer(_) => 2,
        }
    }
}

/// A part of a message that is sent in one stretch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Its share of the message.
    pub share: f64,
    /// Whether it is the last.
    pub is_last: bool,
}

impl Part {
    /// A message that is sent as a whole.
    pub const WHOLE: Self = Self {
        share: 1.0,
        is_last: true,
    };
}

/// Bytes that a guest hands its adapter at once at most: Linux cuts what a connection sends into
/// pieces of this size (`GSO_MAX_SIZE`), whatever is written to it.
const PIECE_BYTES: u64 = 64 << 10;

/// Pieces in which an answer of so many bytes comes.
pub fn pieces(bytes: u64) -> u16 {
    bytes.div_ceil(PIECE_BYTES).clamp(1, u64::from(u16::MAX)) as u16
}

/// Kinds of messages between virtual machines; what goes outside has the numbers behind.
pub const KINDS: usize = 3;

/// What is sent after a message has been seen to. All requests are alike, and so are all answers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outgoing {
    /// As the switch takes it.
    pub parcel: Parcel,
    /// How many a sender pays for.
    pub frames: f64,
    /// Those sent in this window.
    pub messages: u64,
}

/// What follows a request, an answer and the end of a think time on a switch, and what its machines
/// send outside, of so many bytes each.
pub fn outgoing(
    switch: &Switch,
    workload: &Workload,
    outside: impl Iterator<Item = u64>,
) -> Vec<Outgoing> {
    let outside = outside.map(|bytes| Outgoing::new(switch.parcel(bytes, 0)));
    let between = switch.parcels(workload).map(Outgoing::new);
    between.into_iter().chain(outside).collect()
}

impl Outgoing {
    fn new(parcel: Parcel) -> Self {
        Self {
            parcel,
            frames: parcel.frames() as f64,
            messages: 0,
        }
    }
}
