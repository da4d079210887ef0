//! The web workload: requests, files and answers over virtual switches, in a closed loop.
//!
//! Every connection of a client with a server has one transaction outstanding: the client sends a
//! request, the server reads the file and sends it, the client takes it, thinks, and asks again.
//! A virtual processor that waits is interrupted by a message; those that arrive while it runs it
//! takes in the same stretch, without another interruption.

use super::state::{Cp, Message, Mode, Task};
use super::Alarm;
use crate::guest::zvm::ids::{ConnectionId, LpId, SwitchId, VcpuId};
use crate::guest::zvm::segment::{Owner, Segment};
use crate::ids::PartitionId;
use crate::kernel::Time;
use crate::sim::windows::Partitions;
use crate::sim::world::World;
use crate::spec::{Distribution, Role, Workload};

/// Data frames that a receiver acknowledges with one of its own (RFC 1122, 4.2.3.2: at least every
/// second full segment).
const FRAMES_ACKNOWLEDGED: u64 = 2;

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

    fn think_ns(&self, partition: PartitionId) -> u64 {
        match self.spec_of(partition).workload {
            Workload::Web { think_ns, .. } => think_ns,
            _ => 0,
        }
    }

    /// A connection's next request after the think time.
    fn think(&mut self, partition: PartitionId, connection: ConnectionId) {
        let mean = self.think_ns(partition) as f64;
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
        let now = self.now;
        self.cp(partition).connections[connection].since = now;
        let meter = self.meters.integrate(partition, now);
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

    /// What a virtual processor does next; `woken` if it has just been put on its processor.
    pub fn next_segment(
        &mut self,
        partition: PartitionId,
        lp: LpId,
        vcpu: VcpuId,
        woken: bool,
    ) -> Segment {
        let chip = self.cp(partition).lps[lp].place.chip;
        let near = self.near(partition, chip);
        let mut segment = Segment::default();
        let task = self.cp(partition).vcpus[vcpu].task;
        let (message, guest) = match task {
            Task::Loop => {
                segment.execute(Owner::Guest, ENDLESS);
                return segment;
            }
            Task::Message { message, guest } => {
                self.add_page_io(partition, vcpu, &near, &mut segment);
                (message, guest)
            }
            Task::None => self.take_message(partition, vcpu),
        };
        let cp = self.cp(partition);
        if woken && task == Task::None {
            segment.execute(Owner::Chargeable, cp.spec.paths.interruption);
        }
        segment.execute(Owner::Guest, guest);
        cp.refill(vcpu, guest, &near, &mut segment);
        if self.cp(partition).has_file(vcpu) {
            self.add_sending(partition, lp, message, &mut segment);
        }
        segment
    }

    /// Takes the next message; how many instructions of the guest it needs until the next page read
    /// or the end.
    fn take_message(&mut self, partition: PartitionId, vcpu: VcpuId) -> (Message, f64) {
        let at = partition;
        let mean = self.spec_of(at).profile.instructions_per_unit;
        let Workload::Web {
            client_share, work, ..
        } = self.spec_of(at).workload
        else {
            unreachable!("messages are the web workload's");
        };
        let v = &mut self.sys.cps[at].as_deref_mut().expect("z/VM").vcpus[vcpu];
        let message = v.inbox.pop_front().expect("who goes on has a message");
        let mean = match message {
            Message::Request(_) => mean * (1.0 - client_share),
            Message::Answer(_) => mean * client_share,
            Message::Timer(_) => 0.0,
        };
        let guest = match work {
            Distribution::Constant => mean,
            Distribution::Exponential => self.guests[at].work.exponential(mean),
        };
        let guest = match message {
            Message::Request(_) => self.open_file(partition, vcpu, guest),
            _ => guest,
        };
        self.cp(partition).vcpus[vcpu].task = Task::Message { message, guest };
        (message, guest)
    }

    /// Adds what it takes to send what follows a message.
    fn add_sending(
        &mut self,
        partition: PartitionId,
        lp: LpId,
        message: Message,
        into: &mut Segment,
    ) {
        let Workload::Web {
            request_bytes,
            file_bytes,
            think_ns,
            ..
        } = self.spec_of(partition).workload
        else {
            return;
        };
        let (connection, bytes) = match message {
            Message::Request(connection) => (connection, file_bytes),
            // Nothing to say yet: what came is acknowledged by itself.
            Message::Answer(connection) if think_ns > 0 => (connection, 0),
            Message::Answer(connection) | Message::Timer(connection) => (connection, request_bytes),
        };
        let chip = self.cp(partition).lps[lp].place.chip;
        let near = self.near(partition, chip);
        let cp = self.cp(partition);
        let switch = cp.connections[connection].switch;
        let received = match message {
            Message::Answer(_) => file_bytes,
            Message::Request(_) | Message::Timer(_) => 0,
        };
        cp.send(lp, switch, (received, bytes), &near, into);
    }

    /// The effects of a virtual processor's segment; whether it goes on.
    pub fn finish_segment(&mut self, partition: PartitionId, vcpu: VcpuId) -> bool {
        let v = &mut self.cp(partition).vcpus[vcpu];
        let Task::Message { message, .. } = v.task else {
            return true;
        };
        if self.read_page(partition, vcpu, message) {
            return false;
        }
        self.cp(partition).vcpus[vcpu].task = Task::None;
        match message {
            Message::Request(connection) => {
                let client = self.cp(partition).connections[connection].client;
                self.deliver(partition, client, Message::Answer(connection));
            }
            Message::Answer(connection) => {
                self.end_transaction(partition, connection);
                if self.think_ns(partition) > 0 {
                    self.think(partition, connection);
                } else {
                    self.begin_transaction(partition, connection);
                    self.request(partition, connection);
                }
            }
            Message::Timer(connection) => self.request(partition, connection),
        }
        let now = self.now;
        let v = &mut self.cp(partition).vcpus[vcpu];
        if v.inbox.is_empty() {
            v.mode = Mode::Idle;
            self.meters.integrate(partition, now).runnable -= 1;
            return false;
        }
        true
    }

    fn request(&mut self, partition: PartitionId, connection: ConnectionId) {
        let server = self.cp(partition).connections[connection].server;
        self.deliver(partition, server, Message::Request(connection));
    }

    fn end_transaction(&mut self, partition: PartitionId, connection: ConnectionId) {
        let now = self.now;
        let cp = self.cp(partition);
        let c = cp.connections[connection];
        let response = now - c.since;
        let vm = cp.vm_of(c.client);
        vm.tx_done += 1;
        vm.response_ns += response;
        let meter = self.meters.integrate(partition, now);
        meter.tx_done += 1;
        meter.inside -= 1;
        meter.response_ns += response;
        self.meters.responses[partition].record(Time::from_ns(response));
    }
}

impl Cp {
    /// Sends so many bytes over a switch after having received so many. What acknowledges the last
    /// frames received goes with the data.
    fn send(
        &mut self,
        lp: LpId,
        switch: SwitchId,
        (received, bytes): (u64, u64),
        near: &super::sharing::Near,
        into: &mut Segment,
    ) {
        let chip = self.lps[lp].place.chip;
        let port = &mut self.ports[switch];
        let search = port.views[usize::from(chip)].search;
        let frames = if received > 0 {
            port.switch.frames_of(received)
        } else {
            0
        };
        let beside = (frames / FRAMES_ACKNOWLEDGED).saturating_sub(1);
        let sent = port
            .switch
            .send(bytes, beside, self.spec.paths.searches, &search);
        port.used_on(lp, sent.frames);
        let frames = sent.frames as f64;
        let path = frames * self.spec.paths.frame + sent.instructions;
        into.execute(Owner::Chargeable, path);
        if sent.list_ns > 0.0 {
            self.search(switch, chip, sent.list_ns, sent.transfers, into);
        }
        let takes = frames * self.spec.locks.frame;
        self.take_port(switch, takes, chip, near, into);
    }
}
