//! Messages between virtual processors: what arrives, and what is sent after it.

use crate::devices::memory::PAGE_BYTES;
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

/// Frames that a connection sends without an acknowledgement: TCP's initial window (RFC 6928), with
/// which it also begins anew after a pause.
const FIRST_FRAMES: u64 = 10;

/// Frames that an acknowledgement covers (RFC 1122, 4.2.3.2), and lets go at least.
const FRAMES_ACKNOWLEDGED: u64 = 2;

/// Pieces in which an answer of so many bytes comes, in frames of that payload. What the initial
/// window holds comes at once. The rest of a longer answer follows as the receiver acknowledges it,
/// and goes to the adapter frame by frame, since a virtual one cuts nothing up itself: so whoever
/// waits for it is interrupted again and again. A page is the least that is told apart.
pub fn pieces(bytes: u64, frame: u64) -> u16 {
    if bytes <= FIRST_FRAMES * frame {
        return 1;
    }
    let piece = PAGE_BYTES.max(FRAMES_ACKNOWLEDGED * frame);
    bytes.div_ceil(piece).clamp(1, u64::from(u16::MAX)) as u16
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_initial_window_holds_is_one_piece_and_the_rest_follows_acknowledgements() {
        let (one, first) = (pieces(8192, 1492), pieces(14_920, 1492));
        assert_eq!((one, first, pieces(14_921, 1492)), (1, 1, 4));
        // A page of frames of 1492 bytes, two of 8992: nothing is told apart within a page.
        assert_eq!((pieces(1 << 20, 1492), pieces(1 << 20, 8992)), (256, 59));
        // Files of any length.
        assert_eq!(pieces(1 << 40, 1492), u16::MAX);
        let by_frame = [500, 1492, 4096, 8992, 65_000].map(|frame| pieces(200_000, frame));
        assert!(
            by_frame.is_sorted_by(|small, large| small >= large),
            "{by_frame:?}"
        );
    }
}
