//! The web workload: requests, files and answers over virtual switches, in a closed loop.
//!
//! Every connection of a client with a server has one transaction outstanding: the client sends a
//! request, the server reads the file and sends it, the client takes it, thinks, and asks again.
//! A virtual processor that waits is interrupted by a message; those that arrive while it runs it
//! takes in the same stretch, without another interruption.

use super::inbox::Connection;
use super::message::{Message, Part};
use super::state::{Cp, Mode, Task, Vcpu, Web};
use super::Alarm;
use crate::devices::Pager;
use crate::guest::zvm::ids::{ConnectionId, LpId, VcpuId};
use crate::guest::zvm::segment::{Owner, Segment};
use crate::ids::PartitionId;
use crate::kernel::{Stream, Time};
use crate::sim::windows::Partitions;
use crate::sim::world::World;
use crate::spec::Role;

/// Instructions of an endless loop: more than any run executes.
const ENDLESS: f64 = 1e15;

impl World<Partitions> {
    /// Starts the virtual machines of a partition of z/VM.
    pub fn start_cp(&mut self, partition: PartitionId) {
        self.begin_parking(partition);
        for vcpu in self.cp(partition).vcpus.ids() {
            let cp = self.cp(partition);
            if cp.role_of(vcpu) == Role::Loop {
                cp.vcpus[vcpu].task = Task::Loop;
                self.wake_vcpu(partition, vcpu);
            }
        }
        self.next_park(partition);
        for vm in self.cp(partition).vms.ids() {
            self.begin_work(partition, vm);
            self.await_daemon(partition, vm);
        }
        for connection in self.cp(partition).connections.ids() {
            self.think(partition, connection);
        }
    }

    /// A connection's next request after the think time.
    fn think(&mut self, partition: PartitionId, connection: ConnectionId) {
        let mean = self.cp(partition).web.think_ns as f64;
        let waits = &mut self.loads[partition.into()].waits;
        let think = if mean > 0.0 {
            waits.exponential(mean) as u64
        } else {
            0
        };
        self.cp_asks(partition, self.now + think, Alarm::Think(connection));
    }

    /// A think time is over: a transaction begins.
    pub fn end_think(&mut self, partition: PartitionId, connection: ConnectionId) {
        let c = &mut self.sys.cp(partition).connections[connection];
        c.since = self.now;
        let client = c.client;
        let meter = self.meter_now(partition);
        meter.tx_arrived += 1;
        meter.inside += 1;
        self.deliver(partition, client, Message::Timer(connection));
    }

    /// A message arrives at a virtual processor.
    fn deliver(&mut self, partition: PartitionId, vcpu: VcpuId, message: Message) {
        let cp = self.sys.cp(partition);
        let v = &mut cp.vcpus[vcpu];
        v.inbox.push(message, &mut cp.connections);
        if v.mode == Mode::Idle {
            self.wake_vcpu(partition, vcpu);
        }
    }

    /// The effects of a virtual processor's segment; whether it goes on.
    pub fn finish_segment(&mut self, partition: PartitionId, vcpu: VcpuId) -> bool {
        let v = &mut self.cp(partition).vcpus[vcpu];
        let (message, is_last) = match v.task {
            Task::Message { message, part, .. } => (message, part.is_last),
            Task::Transaction(request) => return self.end_work(partition, vcpu, request),
            Task::Daemon => return self.end_daemon(partition, vcpu),
            Task::None | Task::Loop => return true,
        };
        v.task = Task::None;
        if v.sending.is_some() {
            if let Some(goes_on) = self.send_on(partition, vcpu, message) {
                return goes_on;
            }
        } else {
            self.send_whole(partition, message, is_last);
        }
        let v = &mut self.sys.cp(partition).vcpus[vcpu];
        let goes_on = v.has_more();
        if !goes_on {
            v.mode = Mode::Idle;
            self.meter_now(partition).runnable -= 1;
        }
        goes_on
    }

    /// What was sent as a whole arrives. Of an answer that comes in pieces only the last has more
    /// to it than acknowledgements.
    fn send_whole(&mut self, partition: PartitionId, message: Message, is_last: bool) {
        let of = message.connection();
        let server = self.sys.cp(partition).connections[of].server;
        match message {
            Message::Request(_) => self.deliver_pieces(partition, of, 1),
            Message::Timer(_) => self.deliver(partition, server, Message::Request(of)),
            Message::Answer(_) if !is_last => {}
            Message::Answer(_) if self.end_transaction(partition, of) => self.think(partition, of),
            Message::Answer(_) => self.deliver(partition, server, Message::Request(of)),
        }
    }

    /// A server has worked on some pages of a file: what makes a piece goes to the client. Whether
    /// it goes on; nothing if the file is sent.
    fn send_on(&mut self, partition: PartitionId, vcpu: VcpuId, message: Message) -> Option<bool> {
        let cp = self.sys.cp(partition);
        let pieces = cp.web.pieces;
        let sending = cp.vcpus[vcpu].sending.as_mut()?;
        let whole = sending.finish(pieces);
        let (waits, ends) = (sending.is_starved(), sending.is_sent());
        if waits {
            self.read_page(partition, vcpu, message);
        } else if ends {
            cp.vcpus[vcpu].sending = None;
        } else {
            let (guest, part) = sending.next(pieces);
            cp.vcpus[vcpu].task = Task::Message {
                message,
                guest,
                part,
            };
        }
        self.deliver_pieces(partition, message.connection(), whole);
        (!ends).then_some(!waits)
    }

    /// Pieces of an answer arrive at the client.
    fn deliver_pieces(&mut self, partition: PartitionId, of: ConnectionId, count: u16) {
        if count == 0 {
            return;
        }
        let c = &mut self.sys.cp(partition).connections[of];
        let (client, waited) = (c.client, c.pieces.1 > 0);
        c.pieces = (c.pieces.0 - count, c.pieces.1 + count);
        if !waited {
            self.deliver(partition, client, Message::Answer(of));
        }
    }

    /// A client has its answer: its transaction ends. The next one of the connection begins with
    /// that, or after a think time: whether there is one.
    fn end_transaction(&mut self, partition: PartitionId, connection: ConnectionId) -> bool {
        let cp = self.sys.cp(partition);
        let c = &mut cp.connections[connection];
        let client = c.client;
        let response = self.now - std::mem::replace(&mut c.since, self.now);
        let thinks = cp.web.think_ns > 0;
        let vm = cp.vm_of(client);
        vm.tx_done += 1;
        vm.response_ns += response;
        let meter = self.meter_now(partition);
        meter.tx_done += 1;
        meter.response_ns += response;
        if thinks {
            meter.inside -= 1;
        } else {
            meter.tx_arrived += 1;
        }
        self.meters.responses[partition].record(Time::from_ns(response));
        thinks
    }
}

impl Cp {
    /// Sets what a virtual processor does next as its logical processor's segment, `WOKEN` if it
    /// has just been put there: after what that segment has already. Chance comes from the guests'
    /// `work`.
    pub fn next_segment<const WOKEN: bool>(&mut self, lp: LpId, vcpu: VcpuId, work: &mut Stream) {
        let (of, v) = (&mut self.lps[lp], &mut self.vcpus[vcpu]);
        let (chip, into) = (of.place.chip, &mut of.segment);
        let near = &self.near[chip];
        let signal = self.vms[v.vm].signal_share() * self.spec.paths.interruption;
        if !WOKEN {
            *into = Segment::default();
        }
        if v.daemons > 0 && v.task == Task::None {
            v.daemons -= 1;
            v.task = Task::Daemon;
        }
        let (message, guest, part) = match v.task {
            Task::Transaction(request) => {
                if WOKEN {
                    into.execute(Owner::Chargeable, self.spec.paths.interruption);
                }
                into.execute(Owner::Chargeable, signal);
                let served = self.vms[v.vm].served.as_deref_mut();
                let (guest, answer) = served.expect("it has work").draw(request, work);
                into.execute(Owner::Guest, guest);
                v.refill(guest, near, into);
                if let Some((switch, kind)) = answer {
                    self.ports[switch].send((kind, Part::WHOLE), (lp, chip), near, into);
                }
                return;
            }
            Task::Daemon => {
                if WOKEN {
                    into.execute(Owner::Chargeable, self.spec.paths.interruption);
                }
                let guest = self.daemons.instructions;
                into.execute(Owner::Guest, guest);
                v.refill(guest, near, into);
                return;
            }
            Task::Loop => {
                into.execute(Owner::Guest, ENDLESS);
                return;
            }
            Task::Message {
                message,
                guest,
                part,
            } => {
                let lock = &mut self.locks.pages;
                v.pay_page_io((&self.spec.paths, &self.spec.locks), lock, near, into);
                (message, guest, part)
            }
            Task::None => {
                if WOKEN {
                    into.execute(Owner::Chargeable, self.spec.paths.interruption);
                }
                into.execute(Owner::Chargeable, signal);
                let message = v.inbox.pop(&self.connections);
                let message = message.expect("who goes on has a message");
                let connection = &mut self.connections[message.connection()];
                let pager = self.pager.as_mut();
                v.take_message(message, connection, (&self.web, pager), work)
            }
        };
        into.execute(Owner::Guest, guest);
        v.refill(guest, near, into);
        if part.share > 0.0 {
            let switch = self.connections[message.connection()].switch;
            self.ports[switch].send((message.kind(), part), (lp, chip), near, into);
        }
    }
}

impl Vcpu {
    /// Takes a message: what of it is done in this stretch, with the guest's instructions for that,
    /// until the next page read, the next piece or the end.
    #[inline]
    fn take_message(
        &mut self,
        message: Message,
        connection: &mut Connection,
        (web, pager): (&Web, Option<&mut Pager>),
        work: &mut Stream,
    ) -> (Message, f64, Part) {
        let mean = web.instructions[message.kind()];
        let guest = if web.varies {
            work.exponential(mean)
        } else {
            mean
        };
        let (guest, part) = match message {
            Message::Request(_) => {
                connection.pieces = (web.pieces, 0);
                self.open_file(web, pager, guest)
            }
            Message::Answer(_) => {
                let (coming, came) = connection.pieces;
                connection.pieces.1 = 0;
                let share = f64::from(came) / f64::from(web.pieces);
                let is_last = coming == 0;
                (guest * share, Part { share, is_last })
            }
            Message::Timer(_) => (guest, Part::WHOLE),
        };
        self.task = Task::Message {
            message,
            guest,
            part,
        };
        (message, guest, part)
    }
}
