//! A virtual switch as CP works on it: what messages over it cost, by the chip of the sender.

use super::sharing::{Lock, Near, Sharing, View, NEWEST};
use crate::cost::{Spread, Table};
use crate::devices::{Parcel, Switch, Travels};
use crate::guest::zvm::ids::{ConnectionId, LpId};
use crate::guest::zvm::segment::{Owner, Segment};
use crate::ids::{ById, ChipId};
use crate::machine::Topology;
use crate::spec::{CpLocks, CpPaths, Workload};

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

/// Data frames that a receiver acknowledges with one of its own (RFC 1122, 4.2.3.2: at least every
/// second full segment).
const FRAMES_ACKNOWLEDGED: u64 = 2;

/// What is sent after a message has been seen to. All requests are alike, and so are all answers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outgoing {
    parcel: Parcel,
    frames: f64,
    /// CP's instructions, searches apart.
    instructions: f64,
    /// Times that the switch's lock is taken.
    takes: f64,
}

/// A switch and what a search of it costs on each chip in this window.
pub struct Port {
    /// As the spec has it.
    pub switch: Switch,
    /// What follows a request, an answer and the end of a think time.
    outgoing: [Outgoing; 3],
    /// What a sender takes for each frame.
    lock: Lock,
    /// Costs, by chip.
    views: ById<ChipId, View>,
    /// What searches by all of its users have in common.
    travels: Travels,
    /// Frames sent from each logical processor, running average.
    by_lp: ById<LpId, f64>,
    /// Chip of each logical processor.
    chips: ById<LpId, ChipId>,
    /// Where those are that send on it.
    users: Spread,
    /// Time of a processor between two of its searches [ns].
    outside_ns: f64,
}

impl Port {
    /// A switch that nobody has sent on yet.
    pub fn new(
        switch: Switch,
        (tree, chips): (&Topology, &ById<LpId, ChipId>),
        workload: &Workload,
        (paths, locks): (&CpPaths, &CpLocks),
    ) -> Self {
        let count = tree.chips().len();
        Self {
            outgoing: outgoing(&switch, workload, paths, locks),
            travels: Travels::of(switch.vnics(), 1.0),
            switch,
            lock: Lock::default(),
            views: ById::of(View::default(), count),
            by_lp: ById::of(0.0, chips.len()),
            chips: chips.clone(),
            users: Spread::new(tree, ById::of(Vec::new(), count)),
            outside_ns: f64::INFINITY,
        }
    }

    /// Sends what follows a message, from a logical processor of a chip; `lines` come with its
    /// lock.
    #[inline]
    pub fn send(
        &mut self,
        after: Message,
        (lp, chip): (LpId, ChipId),
        lines: f64,
        near: &Near,
        into: &mut Segment,
    ) {
        let view = &self.views[chip];
        let outgoing = &self.outgoing[after.kind()];
        let sent = self.switch.pass(&outgoing.parcel, &view.search);
        self.by_lp[lp] += outgoing.frames;
        let owner = Owner::Chargeable;
        into.execute(owner, outgoing.instructions + sent.instructions);
        if sent.list_ns > 0.0 {
            let lines = view.sharing.by.map(|by| by * sent.transfers);
            into.search(owner, sent.list_ns, lines);
        }
        let takes = (outgoing.takes, lines);
        self.lock.take(takes, owner, &view.sharing, near, into);
    }

    /// Works out what a search and its lock cost on a chip.
    pub fn price(&mut self, table: &Table, chip: ChipId, element_instructions: f64) {
        let sharing = self.sharing(table, chip);
        let view = &mut self.views[chip];
        view.sharing = sharing;
        if self.switch.searches() {
            let pairs = sharing.by.iter().zip(sharing.ns);
            let transfer_ns = pairs.map(|(by, ns)| by * ns).sum();
            let (travels, outside_ns) = (&self.travels, self.outside_ns);
            view.search = travels.search(transfer_ns, outside_ns, element_instructions);
        }
    }

    /// Where its lines lie as seen from a chip.
    fn sharing(&self, table: &Table, chip: ChipId) -> Sharing {
        let sharers = self.users.sharers(&table.machine, &table.tree, chip);
        let node = table.tree.node_of(chip);
        let ns = table.machine.cache_to_cache_ns;
        let link = table.occupancy.node_link_stretch[node];
        Sharing {
            elsewhere: sharers.elsewhere,
            by: sharers.by,
            ns: [ns.local, ns.near, ns.far * sharers.far_factor * link],
        }
    }

    /// A window ends, in which an instruction took `instruction_ns` on average: what was sent in it
    /// becomes what sending costs in the next.
    pub fn close_window(
        &mut self,
        table: &Table,
        locks: &CpLocks,
        instruction_ns: f64,
        window_ns: f64,
    ) {
        self.close_use(&table.tree, window_ns);
        let (users, transfer) = (self.users.busy_cores(), self.transfer_ns(table));
        let searching = locks.search * self.search_ns(instruction_ns);
        let more_lines = (locks.lines - 1.0).max(0.0);
        let held = locks.hold * instruction_ns + searching + more_lines * transfer;
        let first_line = locks.lines.min(1.0);
        self.lock
            .close(users, held, first_line * transfer, window_ns);
    }

    /// Mean time of a search, over the processors that use it [ns].
    fn search_ns(&self, instruction_ns: f64) -> f64 {
        let all = self.users.busy_cores();
        let of = |(cores, view): (&f64, &View)| {
            let search = &view.search;
            let lines_ns = search.list_ns + search.line_wait_ns;
            cores * (search.instructions * instruction_ns + lines_ns)
        };
        let sum: f64 = self.users.cores().iter().zip(&self.views).map(of).sum();
        if all > 0.0 {
            sum / all
        } else {
            0.0
        }
    }

    /// Mean time of one of its lines, over the processors that use it [ns].
    fn transfer_ns(&self, table: &Table) -> f64 {
        let cores = self.users.cores().entries();
        let all = self.users.busy_cores();
        cores
            .filter(|(_, cores)| **cores > 0.0)
            .map(|(chip, cores)| cores / all * self.sharing(table, chip).transfer_ns())
            .sum()
    }

    fn close_use(&mut self, tree: &Topology, window_ns: f64) {
        let all: f64 = self.by_lp.iter().sum();
        let squares: f64 = self.by_lp.iter().map(|n| n * n).sum();
        if squares > 0.0 {
            let processors = all * all / squares;
            let mut cores = ById::of(0.0, tree.chips().len());
            for (chip, frames) in self.chips.iter().zip(&self.by_lp) {
                cores[*chip] += processors * frames / all;
            }
            self.users.set_cores(tree, cores);
            self.outside_ns = self.switch.close_window(window_ns, processors);
            self.travels
                .set_processors(self.users.busy_cores().max(1.0));
        }
        self.by_lp.iter_mut().for_each(|n| *n *= 1.0 - NEWEST);
    }
}

/// What follows a request, an answer and the end of a think time on a switch. What acknowledges
/// the last frames of an answer goes with what is sent after it.
fn outgoing(
    switch: &Switch,
    workload: &Workload,
    paths: &CpPaths,
    locks: &CpLocks,
) -> [Outgoing; 3] {
    let Workload::Web {
        request_bytes,
        file_bytes,
        think_ns,
        ..
    } = *workload
    else {
        return [Outgoing::default(); 3];
    };
    // Nothing to say yet before a think time: what came is acknowledged by itself.
    let next_bytes = if think_ns > 0 { 0 } else { request_bytes };
    let acknowledgements = if file_bytes > 0 {
        switch.frames_of(file_bytes) / FRAMES_ACKNOWLEDGED
    } else {
        0
    };
    let sent = |bytes: u64, beside: u64| {
        let parcel = switch.parcel(bytes, beside, paths.searches);
        let frames = parcel.frames() as f64;
        Outgoing {
            parcel,
            frames,
            instructions: frames * paths.frame,
            takes: frames * locks.frame,
        }
    };
    [
        sent(file_bytes, 0),
        sent(next_bytes, acknowledgements.saturating_sub(1)),
        sent(request_bytes, 0),
    ]
}
