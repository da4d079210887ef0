//! What a frame costs on a virtual switch of z/VM: its path, its search of the list, its lock.

use crate::cost::Spread;
use crate::devices::Travels;
use crate::guest::zvm::locks::Holding;
use crate::guest::zvm::segment::{Owner, Segment};
use crate::guest::zvm::sharing::Sharing;
use crate::ids::ById;
use crate::steady::cp::figures::Port;
use crate::steady::cp::guests::Guests;
use crate::steady::layout::state::State;
use crate::steady::zvm::costs::CpCosts;

impl State {
    /// What a frame costs on each switch, of which so many are sent in a nanosecond.
    pub(in crate::steady) fn ports(
        &self,
        guests: &Guests,
        costs: &CpCosts,
        (ports, frames): (&mut Vec<Port>, &[f64]),
    ) {
        ports.resize(guests.switches.len(), Port::default());
        if frames.iter().all(|frames| *frames <= 0.0) && ports.iter().all(|of| of.is_known()) {
            return;
        }
        let shared = self.shared_lines(guests, costs);
        for (at, port) in ports.iter_mut().enumerate() {
            let per_ns = frames.get(at).copied().unwrap_or(0.0);
            self.port((guests, at), costs, &shared, (port, per_ns));
        }
    }

    /// Where the lines of a switch lie, as seen from each chip: any processor sends on it.
    fn shared_lines(&self, guests: &Guests, costs: &CpCosts) -> Vec<(f64, Sharing)> {
        let chips = self.tree.chips().len();
        let mut users = Spread::new(&self.tree, ById::of(Vec::new(), chips));
        let mut cores = ById::of(0.0, chips);
        for (share, chip) in costs.places() {
            cores[chip] += share * guests.lps();
        }
        users.set_cores(&self.tree, &cores);
        let ns = self.machine.cache_to_cache_ns;
        let fabric = &self.occupancy.fabric;
        let of = |(share, chip)| {
            let sharers = users.sharers(&self.machine, &self.tree, chip);
            let near = fabric.near_toll(chip).ns();
            let far = fabric.far_toll(&self.tree, chip).ns();
            let sharing = Sharing {
                elsewhere: sharers.elsewhere,
                by: sharers.by,
                ns: [ns.local, ns.near + near, ns.far * sharers.far_factor + far],
            };
            (share, sharing)
        };
        costs.places().map(of).collect()
    }

    fn port(
        &self,
        (guests, at): (&Guests, usize),
        costs: &CpCosts,
        shared: &[(f64, Sharing)],
        (port, per_ns): (&mut Port, f64),
    ) {
        let (zvm, switch) = (&guests.zvm, &guests.switches[at]);
        let (locks, paths) = (&zvm.locks, &zvm.paths);
        let window_ns = self.machine.hypervisor.window_ns as f64;
        let mean = |of: &dyn Fn(&Sharing) -> f64| -> f64 {
            shared
                .iter()
                .map(|(share, sharing)| share * of(sharing))
                .sum()
        };
        let searches = if switch.searches() {
            paths.searches
        } else {
            0.0
        };
        let users = guests.lps();
        if searches > 0.0 {
            let line_ns = mean(&|of| of.by.iter().zip(of.ns).map(|(by, ns)| by * ns).sum());
            let lines_ns = port.search.list_ns + port.search.line_wait_ns;
            let outside_ns = users / (per_ns * searches).max(1e-15) - lines_ns;
            let travels = Travels::of(switch.vnics(), users);
            let guess = port.search.line_wait_ns;
            port.search = travels.search(line_ns, outside_ns.max(0.0), paths.element, guess);
        }
        let transfer = mean(&Sharing::transfer_ns);
        let search = &port.search;
        let search_ns =
            search.instructions * costs.instruction_ns + search.list_ns + search.line_wait_ns;
        let holding = Holding::of(
            locks,
            costs.instruction_ns,
            transfer,
            locks.search * search_ns,
        );
        port.lock.taken = per_ns * locks.frame * window_ns;
        port.lock.usual = port.lock.taken;
        port.lock.close(users, holding, window_ns);
        port.frame = Segment::default();
        for ((share, sharing), (_, _, near)) in shared.iter().zip(&costs.near) {
            let mut frame = Segment::default();
            frame.execute(Owner::Chargeable, paths.frame);
            if searches > 0.0 {
                frame.execute(Owner::Chargeable, searches * search.instructions);
                let ns = searches * (search.list_ns + search.line_wait_ns);
                let lines = searches * search.transfers;
                frame.search(Owner::Chargeable, ns, sharing.by.map(|by| by * lines));
            }
            let takes = (locks.frame, locks.lines);
            port.lock
                .cost(takes, Owner::Chargeable, sharing, near, &mut frame);
            port.frame.repeat(&frame, *share);
        }
    }
}
