//! What dispatches cost: the hypervisor's time, and caches that a virtual processor finds cold.

use super::form::Form;
use super::state::{in_use, Site, State, NOTHING};
use crate::cost::{Place, Refill};
use crate::ids::ChipId;

impl State {
    /// What dispatches cost.
    pub(super) fn dispatches(&mut self, at: usize, form: &Form) {
        if self.host.is_some() {
            return self.turns(at, form);
        }
        let hypervisor = &self.machine.hypervisor;
        let own = (hypervisor.dispatch_ns + hypervisor.cede_ns + hypervisor.prod_ns) as f64;
        let own = if form.free { 0.0 } else { own };
        let doing = &self.doing[at];
        let load = &doing.load;
        let bursts = load.bursts_per_ns.max(1e-18);
        let vps = in_use(doing, form);
        let wakes = (load.wakes_per_ns / bursts).min(1.0);
        let idle = (vps - load.vps).max(0.0);
        let reload = if form.owns {
            0.0
        } else {
            let away_ns = idle / load.wakes_per_ns.max(1e-18);
            let mut sites = std::mem::take(&mut self.doing[at].sites);
            let all = self.reload(at, form, &mut sites, away_ns);
            self.doing[at].sites = sites;
            all
        };
        let doing = &self.doing[at];
        let load = &doing.load;
        let found_idle = idle / vps;
        let daemons = form.demand.daemons_per_ns;
        let daemon_wakes = daemons * found_idle;
        let polls = if form.polls_ns.is_infinite() {
            idle
        } else {
            (load.wakes_per_ns + daemon_wakes)
                * form.polls_ns.min(idle / load.wakes_per_ns.max(1e-18))
        };
        let load = self.doing[at].load;
        let doing = &mut self.doing[at];
        // Daemons and polling use what the work leaves of the virtual processors.
        let left = f64::from(form.filled.vps()) - doing.served * load.vps;
        let daemons_ns = daemons * form.demand.daemon_ns + daemon_wakes * own;
        doing.beside = (daemons_ns + polls.min(idle)).min(left.max(0.0));
        doing.dispatches = doing.load.wakes_per_ns + daemon_wakes;
        // What dispatches cost changes how many there are: half of the way keeps them together.
        let (held_up, worked) = (
            load.wakes_per_ns * own,
            doing.served * load.vps * (1.0 - doing.stalled),
        );
        let stalled = held_up / (held_up + worked).max(1e-15);
        doing.stalled += 0.7 * (stalled - doing.stalled);
        doing.reload_ns += 0.5 * (wakes * reload - doing.reload_ns);
    }

    /// What a dispatch loses to cold caches: time of its threads together [ns].
    fn reload(&self, at: usize, form: &Form, sites: &mut [Site], away_ns: f64) -> f64 {
        let doing = &self.doing[at];
        let load = &doing.load;
        let bursts = load.bursts_per_ns / load.wakes_per_ns.max(1e-18);
        let threads = f64::from(form.partition.smt).min(bursts.max(1.0));
        let each = form.demand.burst * bursts.max(1.0) / threads;
        let between_ns = in_use(doing, form) / load.wakes_per_ns.max(1e-18);
        let changed = self.changed(form, between_ns);
        let mut all = 0.0;
        for index in 0..sites.len() {
            if sites[index].share <= NOTHING {
                continue;
            }
            sites[index].reload_ns = match sites[index].twin {
                Some(twin) => sites[twin].reload_ns,
                None => self.reload_at((at, form), (sites, index), away_ns, changed, each),
            };
            all += sites[index].share * threads * sites[index].reload_ns;
        }
        all
    }

    /// The same at one site, of one thread that executes so many instructions each time.
    fn reload_at(
        &self,
        (at, form): (usize, &Form),
        (sites, index): (&[Site], usize),
        away_ns: f64,
        changed: f64,
        each: f64,
    ) -> f64 {
        let site = &sites[index];
        let chip = ChipId::new(site.chip);
        let node = self.tree.node_of(chip);
        let beside =
            |of: &&Site| of.share > NOTHING && self.tree.node_of(ChipId::new(of.chip)) == node;
        let on_node: f64 = sites.iter().filter(beside).map(|of| of.share).sum();
        let place = Place {
            machine: &self.machine,
            tree: &self.tree,
            contention: &self.contention,
            occupancy: &self.occupancy,
            partition: &form.partition,
            spread: &self.spreads[at],
            chip,
            threads: 1,
            snoozing_sibling: form.snoozes,
        };
        let refill = Refill::of(&site.classes[1], &place);
        if refill.lines_per_instruction <= 0.0 {
            return 0.0;
        }
        let (taken, strangers) = self.taken(at, chip, form);
        let is_home = form.homes.iter().any(|(home, _)| *home == chip);
        // Who ran at home comes back there with the chance that a core is idle; who ran
        // elsewhere comes back to its last core while there is none at home.
        let away = self.doing[at].out;
        let came = if is_home { away } else { 1.0 - away };
        let moved = changed * (came + (1.0 - came) * taken);
        let from = [site.share, on_node - site.share, 1.0 - on_node];
        let own_ns: f64 = from
            .iter()
            .zip(refill.own_ns)
            .map(|(share, ns)| share * ns)
            .sum();
        let displaced = refill.displaced(away_ns * taken, 1);
        let lost = moved + (1.0 - moved) * displaced;
        let own = refill.lines * (1.0 - refill.common) * lost;
        let common = refill.lines * refill.common * lost * strangers;
        let cold = (own + common) / refill.lines_per_instruction;
        if cold <= 0.0 {
            return 0.0;
        }
        let far = own * (moved * own_ns + (1.0 - moved) * refill.own_ns[0]);
        let ns = (far + common * refill.common_ns) / (own + common);
        each * (1.0 - (-cold / each).exp()) * ns
    }

    /// Chance that a virtual processor that comes back to a chip finds its last core taken, and
    /// the share of others' partitions in what ran on the chip.
    ///
    /// So many of those homed there as there are cores keep one each; the others share what is
    /// idle of all of them.
    fn taken(&self, at: usize, chip: ChipId, form: &Form) -> (f64, f64) {
        let node = self.tree.node_of(chip);
        let is_home = |of: ChipId| form.homes.iter().any(|(home, _)| *home == of);
        // Of several home chips each keeps its core on whichever it found one.
        let beside = |of: &ChipId| *of == chip || is_home(chip) && is_home(*of);
        let group = || self.tree.chips_of(node).into_iter().filter(beside);
        let cores: f64 = group().map(|of| self.free[of]).sum::<f64>().max(1.0);
        let all: f64 = group().map(|of| self.used[of]).sum();
        let own: f64 = group().map(|of| self.spreads[at].cores()[of]).sum();
        let here = group().map(|of| self.here[of]).sum::<f64>().max(all);
        let each = if here > 0.0 {
            (all / here).min(1.0)
        } else {
            0.0
        };
        let idle = cores * (1.0 - each);
        let taken = ((here - cores).max(0.0) * each / idle.max(1e-9)).min(1.0);
        let strangers = if all > 0.0 { 1.0 - own / all } else { 0.0 };
        (taken, strangers.max(0.0))
    }

    /// Chance that who is on the home chips has changed since a virtual processor came there last:
    /// while the same stay, it finds what it found then. A core changes hands with each that leaves
    /// and each that comes.
    fn changed(&self, form: &Form, between_ns: f64) -> f64 {
        let (mut all, mut new) = (0.0, 0.0);
        for (home, _) in &form.homes {
            for (cores, stay_ns) in &self.stays[*home] {
                all += cores;
                new += cores * (1.0 - (-2.0 * between_ns / stay_ns).exp());
            }
        }
        if all > 0.0 {
            new / all
        } else {
            1.0
        }
    }
}
