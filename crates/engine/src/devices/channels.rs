//! Channels between a partition and its storage server, which all its control units share.
//!
//! ```text
//! command mode     an I/O has one for as long as it is connected; others wait for one
//! transport mode   an I/O is one exchange, for which the channel has a moment's work; then its
//!                  pages cross the link, reads one way and writes the other
//! ```
//!
//! In transport mode exchanges of many I/Os are under way on a channel at a time, and an I/O takes
//! the one that is ready for it first. The larger the blocks of others are, the longer it waits for
//! them to cross, however few I/Os there are.

use std::collections::VecDeque;

use crate::kernel::Time;
use crate::spec::Paging;

/// Channels of a storage server, if they can be the limit.
pub(super) enum Channels {
    /// They never are.
    Endless,
    /// Those that are free in command mode, and I/Os that wait for one, since when.
    Command {
        free: u16,
        waiting: VecDeque<(u32, Time)>,
    },
    /// In transport mode.
    Transport(Vec<Channel>),
}

/// A channel in transport mode.
#[derive(Clone)]
pub(super) struct Channel {
    exchange: Time,
    page: Time,
    /// When it has done what it has to do for the exchanges so far.
    free: Time,
    /// When its link is free, for reads and for writes.
    ways: [Time; 2],
}

impl Channels {
    pub(super) fn of(spec: &Paging) -> Self {
        if spec.paths == 0 || spec.transport && spec.exchange_ns + spec.link_page_ns == 0 {
            return Self::Endless;
        }
        if !spec.transport {
            return Self::Command {
                free: spec.paths,
                waiting: VecDeque::new(),
            };
        }
        let channel = Channel {
            exchange: Time::from_ns(spec.exchange_ns),
            page: Time::from_ns(spec.link_page_ns),
            free: Time::ZERO,
            ways: [Time::ZERO; 2],
        };
        Self::Transport(vec![channel; usize::from(spec.paths)])
    }

    /// An I/O is ready for one: when it has it, unless it waits until another leaves one.
    pub(super) fn take(&mut self, now: Time, id: u32, reads: bool, pages: u32) -> Option<Time> {
        match self {
            Self::Endless => Some(now),
            Self::Command { free: 0, waiting } => {
                waiting.push_back((id, now));
                None
            }
            Self::Command { free, .. } => {
                *free -= 1;
                Some(now)
            }
            Self::Transport(all) => {
                let way = usize::from(!reads);
                let first = all.iter_mut().min_by_key(|one| one.ready(way));
                Some(first.expect("there is a channel").begin(now, way, pages))
            }
        }
    }

    /// An I/O has ended: who takes its channel, and since when that one has waited.
    pub(super) fn leave(&mut self) -> Option<(u32, Time)> {
        let Self::Command { free, waiting } = self else {
            return None;
        };
        let next = waiting.pop_front();
        *free += u16::from(next.is_none());
        next
    }
}

impl Channel {
    fn ready(&self, way: usize) -> Time {
        self.free.max(self.ways[way])
    }

    fn begin(&mut self, now: Time, way: usize, pages: u32) -> Time {
        let begins = self.ready(way).max(now);
        self.free = begins + self.exchange;
        self.ways[way] = begins + self.page * u64::from(pages);
        begins
    }
}
