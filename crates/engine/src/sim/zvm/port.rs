//! A virtual switch as CP works on it: what messages over it cost, by the chip of the sender. That
//! is the same for all frames of a window, so it is worked out for the first.

use super::message::{Outgoing, Part};
use crate::cost::{Spread, Table};
use crate::devices::{Search, Switch, SwitchCounters, Travels};
use crate::guest::zvm::ids::LpId;
use crate::guest::zvm::locks::{Holding, Lock, NEWEST};
use crate::guest::zvm::segment::{Owner, Segment};
use crate::guest::zvm::sharing::{Near, Sharing};
use crate::ids::{ById, ChipId};
use crate::machine::Topology;
use crate::spec::{CpLocks, CpPaths};

/// A switch as its senders on one chip see it in this window.
#[derive(Clone, Debug, Default)]
struct View {
    /// Where its lines lie.
    sharing: Sharing,
    /// Frames sent from there in this window.
    frames: f64,
    /// Whether somebody has sent from there in this window, so that what follows holds.
    known: bool,
    /// What a search of its list costs.
    search: Search,
    /// What a frame costs.
    frame: Segment,
}

/// A switch and what a frame costs on each chip in this window.
pub struct Port {
    /// As the spec has it.
    switch: Switch,
    paths: CpPaths,
    locks: CpLocks,
    /// Searches of its list for a frame.
    searches: f64,
    /// What is sent on it, by kind.
    outgoing: Vec<Outgoing>,
    /// What a sender takes for each frame.
    lock: Lock,
    /// Costs, by chip.
    views: ById<ChipId, View>,
    /// Chips that anything is sent from, in their order.
    used: Vec<ChipId>,
    /// What searches by all of its users have in common.
    travels: Travels,
    /// Frames sent from each logical processor, running average.
    by_lp: ById<LpId, f64>,
    /// Chip of each logical processor.
    chips: ById<LpId, ChipId>,
    /// Where those are that send on it.
    users: Spread,
    /// The same, while it is worked out.
    cores: ById<ChipId, f64>,
    /// Time of a processor between two of its searches [ns].
    outside_ns: f64,
}

impl Port {
    /// A switch that nobody has sent on yet.
    pub fn new(
        switch: Switch,
        (tree, chips): (&Topology, &ById<LpId, ChipId>),
        outgoing: Vec<Outgoing>,
        (paths, locks): (&CpPaths, &CpLocks),
    ) -> Self {
        let count = tree.chips().len();
        let mut used: Vec<ChipId> = chips.iter().copied().collect();
        used.sort_unstable();
        used.dedup();
        Self {
            paths: *paths,
            locks: *locks,
            searches: if switch.searches() {
                paths.searches
            } else {
                0.0
            },
            outgoing,
            travels: Travels::of(switch.vnics(), 1.0),
            switch,
            lock: Lock::default(),
            views: ById::of(View::default(), count),
            used,
            by_lp: ById::of(0.0, chips.len()),
            chips: chips.clone(),
            users: Spread::new(tree, ById::of(Vec::new(), count)),
            cores: ById::of(0.0, count),
            outside_ns: f64::INFINITY,
        }
    }

    /// Sends a part of what is of that kind, from a logical processor of a chip.
    #[inline]
    pub fn send(
        &mut self,
        (kind, part): (usize, Part),
        (lp, chip): (LpId, ChipId),
        near: &Near,
        into: &mut Segment,
    ) {
        let outgoing = &mut self.outgoing[kind];
        outgoing.messages += u64::from(part.is_last);
        let frames = outgoing.frames * part.share;
        self.by_lp[lp] += frames;
        if !self.views[chip].known {
            self.price(chip, near);
        }
        let view = &mut self.views[chip];
        view.frames += frames;
        into.repeat(&view.frame, frames);
    }

    /// Works out what a frame costs on a chip in this window: its search and its lock.
    #[inline(never)]
    fn price(&mut self, chip: ChipId, near: &Near) {
        let view = &mut self.views[chip];
        let (owner, frame) = (Owner::Chargeable, &mut view.frame);
        *frame = Segment::default();
        view.known = true;
        frame.execute(owner, self.paths.frame);
        if self.switch.searches() {
            let pairs = view.sharing.by.iter().zip(view.sharing.ns);
            let transfer_ns = pairs.map(|(by, ns)| by * ns).sum();
            let (outside_ns, element) = (self.outside_ns, self.paths.element);
            let search = &mut view.search;
            let last_ns = search.line_wait_ns;
            *search = self
                .travels
                .search(transfer_ns, outside_ns, element, last_ns);
            frame.execute(owner, self.searches * search.instructions);
            let ns = self.searches * (search.list_ns + search.line_wait_ns);
            if ns > 0.0 {
                let lines = self.searches * search.transfers;
                frame.search(owner, ns, view.sharing.by.map(|by| by * lines));
            }
        }
        let takes = (self.locks.frame, self.locks.lines);
        self.lock.cost(takes, owner, &view.sharing, near, frame);
    }

    /// Where its lines lie as seen from a chip.
    fn sharing(&self, table: &Table, chip: ChipId) -> Sharing {
        let sharers = self.users.sharers(&table.machine, &table.tree, chip);
        let ns = table.machine.cache_to_cache_ns;
        let fabric = &table.occupancy.fabric;
        let (near, far) = (
            fabric.near_toll(chip).ns(),
            fabric.far_toll(&table.tree, chip).ns(),
        );
        Sharing {
            elsewhere: sharers.elsewhere,
            by: sharers.by,
            ns: [ns.local, ns.near + near, ns.far * sharers.far_factor + far],
        }
    }

    /// Takes of its lock until the last window ended, and time spun for it [ns].
    pub fn lock_reading(&self) -> (i64, i64) {
        self.lock.reading()
    }

    /// What went through it so far.
    pub fn counters(&self) -> SwitchCounters {
        let mut all = *self.switch.counters();
        self.count(&mut all);
        all
    }

    /// Counts what was sent in this window.
    fn count(&self, into: &mut SwitchCounters) {
        for of in &self.outgoing {
            into.pass(of.messages, &of.parcel);
        }
        for view in self.used.iter().map(|chip| &self.views[*chip]) {
            if view.frames > 0.0 {
                into.search(view.frames * self.searches, &view.search);
            }
        }
    }

    /// A window ends, in which an instruction took `instruction_ns` on average and what `near` says
    /// held on each chip: what was sent in it becomes what sending costs in the next.
    pub fn close_window(
        &mut self,
        table: &Table,
        near: &ById<ChipId, Near>,
        instruction_ns: f64,
        window_ns: f64,
    ) {
        self.close_counts(near);
        self.close_use(&table.tree, window_ns);
        for at in 0..self.used.len() {
            let chip = self.used[at];
            let sharing = self.sharing(table, chip);
            let view = &mut self.views[chip];
            (view.sharing, view.known) = (sharing, false);
        }
        let locks = self.locks;
        let (users, transfer) = (self.users.busy_cores(), self.transfer_ns());
        let searching = locks.search * self.search_ns(instruction_ns);
        let holding = Holding::of(&locks, instruction_ns, transfer, searching);
        self.lock.close(users, holding, window_ns);
    }

    /// What was sent in a window is counted for good.
    fn close_counts(&mut self, near: &ById<ChipId, Near>) {
        let mut counters = *self.switch.counters();
        self.count(&mut counters);
        *self.switch.counters_mut() = counters;
        for of in &mut self.outgoing {
            of.messages = 0;
        }
        for at in 0..self.used.len() {
            let chip = self.used[at];
            // A search under the lock makes it held for longer, wherever processors were at work.
            if self.locks.search > 0.0 && !self.views[chip].known {
                self.price(chip, &near[chip]);
            }
            let frames = std::mem::take(&mut self.views[chip].frames);
            self.lock.count(frames * self.locks.frame);
        }
    }

    /// Mean time of a search, over the processors that use it [ns].
    fn search_ns(&self, instruction_ns: f64) -> f64 {
        self.mean(|view| {
            let search = &view.search;
            search.instructions * instruction_ns + search.list_ns + search.line_wait_ns
        })
    }

    /// Mean time of one of its lines, over the processors that use it [ns].
    fn transfer_ns(&self) -> f64 {
        self.mean(|view| view.sharing.transfer_ns())
    }

    /// Mean over the processors that use it of what they see.
    fn mean(&self, of: impl Fn(&View) -> f64) -> f64 {
        let all = self.users.busy_cores();
        if all <= 0.0 {
            return 0.0;
        }
        let cores = self.users.cores();
        let seen = self.used.iter();
        seen.map(|chip| cores[*chip] / all * of(&self.views[*chip]))
            .sum()
    }

    fn close_use(&mut self, tree: &Topology, window_ns: f64) {
        let (mut all, mut squares) = (0.0, 0.0);
        self.cores.iter_mut().for_each(|cores| *cores = 0.0);
        for (chip, frames) in self.chips.iter().zip(&mut self.by_lp) {
            all += *frames;
            squares += *frames * *frames;
            self.cores[*chip] += *frames;
            *frames *= 1.0 - NEWEST;
        }
        if squares > 0.0 {
            let processors = all * all / squares;
            self.cores.iter_mut().for_each(|n| *n *= processors / all);
            self.users.set_cores(tree, &self.cores);
            self.outside_ns = self.switch.close_window(window_ns, processors);
            self.travels
                .set_processors(self.users.busy_cores().max(1.0));
        }
    }
}
