//! What z/VM's Control Program does on its own, and what that costs where its processors are: being
//! put on a logical processor, looking for work, signals, and lines found cold. The segments are
//! those of a simulation, at the mean of the processors that take part.

use crate::cost::{Beyond, Place, Surroundings};
use crate::guest::zvm::cold::{displaced, each_ns};
use crate::guest::zvm::locks::Readied;
use crate::guest::zvm::segment::{Owner, Segment};
use crate::guest::zvm::sharing::Near;
use crate::ids::ChipId;
use crate::machine::Distance;
use crate::steady::cp::figures::Cp;
use crate::steady::cp::guests::Guests;
use crate::steady::layout::form::Form;
use crate::steady::layout::state::{classes, State, NOTHING};
use crate::steady::zvm::seats;

/// What happens to a kind of machine when one of its virtual processors is put on.
#[derive(Clone, Copy, Debug)]
pub(in crate::steady) struct Comes {
    /// Instructions of the guest each time, on average.
    pub guest: f64,
    /// How long a virtual processor has been away [ns].
    pub away_ns: f64,
    /// Logical processors at work meanwhile.
    pub busy: f64,
    /// Share of these beside whom the core's other thread is at work.
    pub beside: f64,
    /// Chance that it had to wait, and so is taken by one of its own chip.
    pub waits: f64,
    /// Virtual processors among which the work of all machines is, as if in equal parts.
    pub among: f64,
}

/// Costs at the mean of the chips on which a partition runs, by its time there.
#[derive(Clone, Debug, Default)]
pub(in crate::steady) struct CpCosts {
    pub near: Vec<(f64, ChipId, Near)>,
    /// Of an instruction of one thread that is alone on its core [ns].
    pub instruction_ns: f64,
    /// Of a line that any processor may have written last [ns].
    pub transfer_ns: f64,
    pub dispatch: Segment,
    /// Looking for work and finding it, or all vectors in vain.
    pub found: Segment,
    pub nothing: Segment,
    /// What it costs to make a virtual processor ready, signals apart.
    pub ready: Segment,
    /// Dispatch vectors with unparked processors.
    pub vectors: f64,
}

impl Comes {
    /// Chance that one has to go elsewhere: where a core rests, because its own does not.
    fn finds_taken(&self, cores: f64, lps: f64) -> f64 {
        let by_processor = seats::taken(self.busy, self.among, lps);
        if lps <= cores {
            return by_processor;
        }
        let busy = self.busy * (1.0 - 0.5 * self.beside);
        let rests = 1.0 - (busy / cores).clamp(0.0, 1.0).powf(cores);
        rests * seats::taken(busy, self.among, cores) + (1.0 - rests) * by_processor
    }
}

impl State {
    /// What the Control Program's work costs now.
    pub(in crate::steady) fn cp_costs(&self, at: usize, form: &Form, guests: &Guests) -> CpCosts {
        let (doing, cp) = (&self.doing[at], &self.cps[at]);
        let mut costs = CpCosts::default();
        let vectors = self.vectors(form, guests);
        let open = f64::from(guests.open) / f64::from(guests.online.max(1));
        costs.vectors = (vectors * open).max(1.0);
        for site in doing.sites.iter().filter(|site| site.share > NOTHING) {
            let place = Place {
                machine: &self.machine,
                tree: &self.tree,
                contention: &self.contention,
                occupancy: &self.occupancy,
                partition: &form.partition,
                spread: &self.spreads[at],
                chip: ChipId::new(site.chip),
                threads: 1,
                snoozing_sibling: false,
            };
            let around = Surroundings::of(&place, &classes(&doing.sites, site)[1]);
            let (profile, locks) = (&form.partition.profile, &guests.zvm.locks);
            let mut near = Near::of(around, profile, &self.machine, locks);
            if form.reaches {
                near.beyond = Beyond::of(&place, &form.fixed[1]);
            }
            costs.add(
                (site.share, ChipId::new(site.chip), near),
                vectors,
                (guests, cp),
            );
        }
        costs
    }

    /// Dispatch vectors: of a chip in vertical polarization, of each logical processor in
    /// horizontal.
    fn vectors(&self, form: &Form, guests: &Guests) -> f64 {
        if !guests.zvm.vertical {
            return f64::from(guests.online) * guests.smt;
        }
        let chips = |of: &[(ChipId, f64)]| of.len() as f64;
        chips(&form.all_homes)
    }
}

impl CpCosts {
    fn add(&mut self, of: (f64, ChipId, Near), vectors: f64, (guests, cp): (&Guests, &Cp)) {
        let (share, _, near) = &of;
        let (share, zvm) = (*share, &guests.zvm);
        self.instruction_ns += share * near.around.instruction_ns;
        self.transfer_ns += share * near.around.transfer_ns();
        self.dispatch
            .repeat(&near.dispatching(zvm, &cp.scheduler), share);
        let mut door = Segment::default();
        let takes = (zvm.locks.dispatch, zvm.locks.lines);
        let (owner, sharing) = (Owner::System, &near.sharing);
        cp.door.cost(takes, owner, sharing, near, &mut door);
        self.dispatch.repeat(&door, share);
        let both = (&cp.scheduler, &cp.door);
        let mut ready = Segment::default();
        let mut one = Readied::default();
        one.add(&zvm.locks, both);
        near.readying(&zvm.locks, both, guests.lps() - 1.0, &one, &mut ready);
        self.ready.repeat(&ready, share);
        // Whoever queues or takes from a vector changes its line.
        let lines = |each: f64| near.sharing.by.map(|by| by * each * near.sharing.elsewhere);
        let found = near.looking(zvm, 1.0, lines(cp.waits));
        let nothing = near.looking(zvm, vectors, lines(cp.waits * vectors));
        self.found.repeat(&found, share);
        self.nothing.repeat(&nothing, share);
        self.near.push(of);
    }

    /// Chips on which the partition runs, with its shares there.
    pub fn places(&self) -> impl Iterator<Item = (f64, ChipId)> + '_ {
        self.near.iter().map(|(share, chip, _)| (*share, *chip))
    }

    /// Time of a segment on a thread that is alone [ns].
    pub fn time_of(&self, segment: &Segment) -> f64 {
        segment.all_instructions() * self.instruction_ns + segment.extra.ns
    }

    /// What a virtual processor finds cold. It comes back to the logical processor that it left if
    /// its core rests, or if that idles and no core rests, else to another of the chip, of the
    /// node, or beyond, the nearest that idles, and to that one from then on ([`seats`]).
    pub fn cold(&self, guests: &Guests, tree: &crate::machine::Topology, comes: &Comes) -> Segment {
        let mut all = Segment::default();
        let cores = f64::from(guests.open);
        let (lps, free) = (cores * guests.smt, 1.0 - comes.waits);
        let taken = comes.finds_taken(cores, lps);
        let others = (taken + comes.beside).min(1.0) * comes.away_ns;
        let full = (comes.busy / lps).min(1.0);
        for (share, chip, near) in &self.near {
            let back = comes.waits / (share * cores).max(1.0);
            let stays = free * (1.0 - taken) + back;
            let around = &near.around;
            let beside = |of: ChipId| tree.node_of(of) == tree.node_of(*chip);
            let node: f64 = self
                .near
                .iter()
                .filter(|of| beside(of.1))
                .map(|of| of.0)
                .sum();
            let none_of = |count: f64| full.powf(count.max(0.0));
            let off_chip = none_of(share * lps - 1.0);
            let off_node = off_chip * none_of((node - share) * lps);
            let by = [
                free * (1.0 - off_chip) + comes.waits,
                free * (off_chip - off_node),
                free * off_node,
            ];
            let kept = displaced(others, around.private_turnover_ns);
            let worked = comes.busy * comes.away_ns;
            let each = |distance, at: usize| {
                by[at] * each_ns(around, distance, worked * share, worked * node)
            };
            let moved = each(Distance::Local, 0) + each(Distance::Near, 1) + each(Distance::Far, 2);
            let own = each_ns(around, Distance::Local, worked * share, worked * node);
            // Who moved misses all, who stays a few: each fetches what its work gets to.
            let touched = (comes.guest * around.reload_lines).max(1e-300);
            let fetched = |lost: f64| touched * (1.0 - (-lost * near.lines / touched).exp());
            let mut cold = Segment::default();
            cold.reload(stays * fetched(kept) * own + (1.0 - stays) * fetched(1.0) * moved);
            let displaced_there = [
                displaced(worked * share, around.chip_turnover_ns),
                displaced(worked * node, around.node_turnover_ns),
            ];
            // In horizontal polarization any processor that idles takes it.
            let came = if guests.zvm.vertical {
                by
            } else {
                [*share, node - share, 1.0 - node]
            };
            let came = came.map(|share| (1.0 - stays) * share);
            let (beyond, run) = (&near.beyond, comes.guest);
            let chances = [came[1], came[2]];
            cold.reload(beyond.mean_ns(run, chances, displaced_there, [0.0; 2]));
            all.repeat(&cold, *share);
        }
        all
    }
}

/// The signal of one that becomes ready, if any processor idles where so many are at work, and its
/// way into the dispatch list.
pub(in crate::steady) fn signalling(guests: &Guests, costs: &CpCosts, busy: f64) -> Segment {
    let lps = guests.lps();
    let idles = 1.0 - (busy / lps).clamp(0.0, 1.0).powf(lps);
    let mut ready = costs.ready;
    ready.execute(Owner::Chargeable, idles * guests.zvm.paths.signal);
    ready
}
