//! The web workload: requests, files and answers over virtual switches, in a closed loop.
//!
//! Every connection of a client with a server has one transaction outstanding: the client sends a
//! request, the server reads the file and sends it, the client takes it, thinks, and asks again.
//! A virtual processor that waits is interrupted by a message; those that arrive while it runs it
//! takes in the same stretch, without another interruption.

use super::port::Message;
use super::sharing::LockKind;
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
        for vcpu in self.cp(partition).vcpus.ids() {
            let cp = self.cp(partition);
            if cp.role_of(vcpu) == Role::Loop {
                cp.vcpus[vcpu].task = Task::Loop;
                self.wake_vcpu(partition, vcpu);
            }
        }
        self.next_park(partition);
        for connection in self.cp(partition).connections.ids() {
            self.think(partition, connection);
        }
    }

    /// A connection's next request after the think time.
    fn think(&mut self, partition: PartitionId, connection: ConnectionId) {
        let mean = self.cp(partition).web.think_ns as f64;
        let waits = &mut self.guests[partition].waits;
        let think = if mean > 0.0 {
            waits.exponential(mean) as u64
        } else {
            0
        };
        self.cp_asks(partition, self.now + think, Alarm::Think(connection));
    }

    /// A think time is over: a transaction begins.
    pub fn end_think(&mut self, partition: PartitionId, connection: ConnectionId) {
        self.begin_transaction(partition, connection);
        let client = self.cp(partition).connections[connection].client;
        self.deliver(partition, client, Message::Timer(connection));
    }

    fn begin_transaction(&mut self, partition: PartitionId, connection: ConnectionId) {
        self.sys.cp(partition).connections[connection].since = self.now;
        let meter = self.meter_now(partition);
        meter.tx_arrived += 1;
        meter.inside += 1;
    }

    /// A message arrives at a virtual processor.
    fn deliver(&mut self, partition: PartitionId, vcpu: VcpuId, message: Message) {
        let v = &mut self.cp(partition).vcpus[vcpu];
        v.inbox.push_back(message);
        if v.mode == Mode::Idle {
            self.wake_vcpu(partition, vcpu);
        }
    }

    /// The effects of a virtual processor's segment; whether it goes on.
    pub fn finish_segment(&mut self, partition: PartitionId, vcpu: VcpuId) -> bool {
        let v = &mut self.cp(partition).vcpus[vcpu];
        let Task::Message { message, .. } = v.task else {
            return true;
        };
        if v.file.is_some() && self.read_page(partition, vcpu, message) {
            return false;
        }
        self.cp(partition).vcpus[vcpu].task = Task::None;
        self.follow_up(partition, message);
        let v = &mut self.sys.cp(partition).vcpus[vcpu];
        let goes_on = !v.inbox.is_empty();
        if !goes_on {
            v.mode = Mode::Idle;
            self.meter_now(partition).runnable -= 1;
        }
        goes_on
    }

    /// What follows a message that has been seen to.
    fn follow_up(&mut self, partition: PartitionId, message: Message) {
        match message {
            Message::Request(connection) => {
                let client = self.cp(partition).connections[connection].client;
                self.deliver(partition, client, Message::Answer(connection));
            }
            Message::Answer(connection) => {
                self.end_transaction(partition, connection);
                if self.cp(partition).web.think_ns > 0 {
                    self.think(partition, connection);
                } else {
                    self.begin_transaction(partition, connection);
                    self.request(partition, connection);
                }
            }
            Message::Timer(connection) => self.request(partition, connection),
        }
    }

    fn request(&mut self, partition: PartitionId, connection: ConnectionId) {
        let server = self.cp(partition).connections[connection].server;
        self.deliver(partition, server, Message::Request(connection));
    }

    fn end_transaction(&mut self, partition: PartitionId, connection: ConnectionId) {
        let cp = self.sys.cp(partition);
        let c = &cp.connections[connection];
        let (client, response) = (c.client, self.now - c.since);
        let vm = cp.vm_of(client);
        vm.tx_done += 1;
        vm.response_ns += response;
        let meter = self.meter_now(partition);
        meter.tx_done += 1;
        meter.inside -= 1;
        meter.response_ns += response;
        self.meters.responses[partition].record(Time::from_ns(response));
    }
}

impl Cp {
    /// Sets what a virtual processor does next as its logical processor's segment; `woken` if it
    /// has just been put there. Chance comes from the guests' `work`.
    pub fn next_segment(&mut self, lp: LpId, vcpu: VcpuId, woken: bool, work: &mut Stream) {
        let (of, v) = (&mut self.lps[lp], &mut self.vcpus[vcpu]);
        let (chip, into) = (of.place.chip, &mut of.segment);
        let near = &self.near[chip];
        *into = Segment::default();
        let (message, guest) = match v.task {
            Task::Loop => {
                into.execute(Owner::Guest, ENDLESS);
                return;
            }
            Task::Message { message, guest } => {
                let lock = &mut self.locks[LockKind::Paging as usize];
                v.pay_page_io((&self.spec.paths, &self.spec.locks), lock, near, into);
                (message, guest)
            }
            Task::None => {
                if woken {
                    into.execute(Owner::Chargeable, self.spec.paths.interruption);
                }
                v.take_message(&self.web, self.pager.as_mut(), work)
            }
        };
        into.execute(Owner::Guest, guest);
        v.refill(guest, near, into);
        if v.has_file() {
            let switch = self.connections[message.connection()].switch;
            let lines = self.spec.locks.lines;
            self.ports[switch].send(message, (lp, chip), lines, near, into);
        }
    }
}

impl Vcpu {
    /// Takes the next message; how many instructions of the guest it needs until the next page read
    /// or the end.
    #[inline]
    fn take_message(
        &mut self,
        web: &Web,
        pager: Option<&mut Pager>,
        work: &mut Stream,
    ) -> (Message, f64) {
        let message = self.inbox.pop_front().expect("who goes on has a message");
        let mean = web.instructions[message.kind()];
        let guest = if web.varies {
            work.exponential(mean)
        } else {
            mean
        };
        let guest = match (message, pager) {
            (Message::Request(_), Some(pager)) => self.open_file(web.pages, pager, guest),
            _ => guest,
        };
        self.task = Task::Message { message, guest };
        (message, guest)
    }
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
