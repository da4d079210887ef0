//! Messages of pairs that bring something: where they lie unread, and who still waits for them.

use crate::ids::CoreId;
use crate::spec::Workload;

/// Bytes that an instruction of a copy moves. Assumed, 8 to 32: a load and a store of 16 to 32
/// bytes each, or 16 to 32 bytes a cycle of one that moves a string.
const BYTES_OF_AN_INSTRUCTION: f64 = 16.0;

/// Instructions of one side's copy of a message.
pub fn copy_instructions(bytes: u64) -> f64 {
    bytes as f64 / BYTES_OF_AN_INSTRUCTION
}

/// Messages of a load's pairs.
pub struct Messages {
    /// What each brings [bytes].
    pub bytes: u64,
    /// Of each pair, where the message was written that nobody has read yet.
    written_on: Vec<Option<CoreId>>,
    /// Thread time that is still to be spent waiting for lines of messages, by the distance that
    /// they come from [ns].
    to_wait_ns: [f64; 3],
}

impl Messages {
    /// Those of a workload, if they bring something.
    pub fn of(workload: &Workload) -> Option<Box<Self>> {
        match *workload {
            Workload::Pairs {
                count,
                message_bytes: bytes @ 1..,
                ..
            } => Some(Box::new(Self {
                bytes,
                written_on: vec![None; count as usize],
                to_wait_ns: [0.0; 3],
            })),
            _ => None,
        }
    }

    /// A thread of a pair has sent its message from a core.
    pub fn write(&mut self, pair: u16, core: Option<CoreId>) {
        self.written_on[usize::from(pair)] = core;
    }

    /// The other one reads it; where it was written, if it is not read yet.
    pub fn read(&mut self, pair: u16) -> Option<CoreId> {
        self.written_on[usize::from(pair)].take()
    }

    /// A reader will wait so long for lines that come from this distance.
    pub fn owe(&mut self, distance: usize, ns: f64) {
        self.to_wait_ns[distance] += ns;
    }

    /// Of core time in which so many busy threads waited, what was for messages, by distance [ns].
    pub fn waited(&mut self, mut ns: f64, threads: u32) -> [f64; 3] {
        let threads = f64::from(threads);
        self.to_wait_ns.each_mut().map(|left| {
            let waited = (*left / threads).min(ns);
            *left -= waited * threads;
            ns -= waited;
            waited
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Distribution;

    fn messages(message_bytes: u64) -> Option<Box<Messages>> {
        Messages::of(&Workload::Pairs {
            count: 2,
            exchanges: 1,
            client_share: 0.5,
            think_ns: 0,
            think: Distribution::Constant,
            burst_work: Distribution::Constant,
            message_bytes,
            generator: None,
        })
    }

    #[test]
    fn a_message_is_read_once() {
        let mut messages = messages(64).expect("they bring something");
        assert_eq!(messages.read(1), None);
        messages.write(1, Some(CoreId::new(3)));
        assert_eq!(messages.read(0), None);
        assert_eq!(messages.read(1), Some(CoreId::new(3)));
        assert_eq!(messages.read(1), None);
    }

    #[test]
    fn what_is_waited_for_is_neither_lost_nor_told_twice() {
        assert!(messages(0).is_none());
        let mut messages = messages(64).expect("they bring something");
        messages.owe(0, 100.0);
        messages.owe(2, 50.0);
        assert_eq!(messages.waited(30.0, 2), [30.0, 0.0, 0.0]);
        assert_eq!(messages.waited(60.0, 1), [40.0, 0.0, 20.0]);
        assert_eq!(messages.waited(100.0, 1), [0.0, 0.0, 30.0]);
    }
}
