//! Connections, and the messages on them that wait for a virtual processor, in the order in which
//! they came.
//!
//! A connection has one message under way at most, so the connections themselves are the links of
//! the line: it needs no memory of its own, however long it gets.

use super::message::Message;
use crate::guest::zvm::ids::{ConnectionId, SwitchId, VcpuId};
use crate::ids::ById;

/// A connection of a client's virtual processor with a server's.
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    /// Who asks.
    pub client: VcpuId,
    /// Who answers.
    pub server: VcpuId,
    /// Index of the virtual switch between them.
    pub switch: SwitchId,
    /// When its present transaction began [ns].
    pub since: u64,
    /// Pieces of the present answer that are still to come, and those that have come and wait for
    /// the client.
    pub pieces: (u16, u16),
    /// Its message, while that waits for one of the two.
    pub message: Message,
    /// That of which waits next for the same.
    pub next: Option<ConnectionId>,
}

/// Messages that wait for a virtual processor.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inbox {
    first: Option<ConnectionId>,
    last: Option<ConnectionId>,
}

impl Connection {
    /// One without a transaction yet.
    pub fn new(id: ConnectionId, client: VcpuId, server: VcpuId, switch: SwitchId) -> Self {
        Self {
            client,
            server,
            switch,
            since: 0,
            pieces: (0, 0),
            message: Message::Timer(id),
            next: None,
        }
    }
}

impl Inbox {
    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Adds one.
    #[inline]
    pub fn push(&mut self, message: Message, connections: &mut ById<ConnectionId, Connection>) {
        let of = message.connection();
        let connection = &mut connections[of];
        (connection.message, connection.next) = (message, None);
        match self.last.replace(of) {
            Some(before) => connections[before].next = Some(of),
            None => self.first = Some(of),
        }
    }

    /// Takes the first.
    #[inline]
    pub fn pop(&mut self, connections: &ById<ConnectionId, Connection>) -> Option<Message> {
        let first = &connections[self.first?];
        self.first = first.next;
        if first.next.is_none() {
            self.last = None;
        }
        Some(first.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Stream;
    use std::collections::VecDeque;

    /// Against a queue with memory of its own.
    #[test]
    fn messages_leave_in_the_order_in_which_they_came() {
        let id = ConnectionId::new;
        let make = |at| Connection::new(id(at), VcpuId::new(0), VcpuId::new(1), SwitchId::new(0));
        let mut connections: ById<ConnectionId, Connection> = (0..9).map(make).collect();
        let (mut inbox, mut plain) = (Inbox::default(), VecDeque::new());
        let mut stream = Stream::new(1, 0, "inbox");
        for _ in 0..10_000 {
            let of = id(stream.below(9) as usize);
            let waits = plain.iter().any(|it: &Message| it.connection() == of);
            if waits {
                assert_eq!(inbox.pop(&connections), plain.pop_front());
            } else {
                let message = if stream.chance(0.5) {
                    Message::Request(of)
                } else {
                    Message::Answer(of)
                };
                inbox.push(message, &mut connections);
                plain.push_back(message);
            }
            assert_eq!(inbox.is_empty(), plain.is_empty());
        }
    }
}
