//! Sets the scheduler up: virtual machines first, then where they are at home.

use super::claims::shares_of;
use super::params::Rules;
use super::parts::{Bound, Client, Doing, Had, Limit, Processor, Vm, World};
use super::Esxi;
use crate::hypervisor::{HostCount, State};
use crate::ids::{ById, CoreId, MemoryId, PartitionId, Span, VpId};
use crate::kernel::When;
use crate::machine::Topology;
use crate::spec::{Partition, Processors, Spec};

impl Esxi {
    /// With all worlds asleep, each at home where its memory is, or where most room is.
    pub(super) fn new(spec: &Spec, state: &State) -> Self {
        let count = state.active().len();
        let nodes = nodes(&state.tree, count);
        let hypervisor = &spec.machine.hypervisor;
        let rules = Rules::of(hypervisor);
        let mut esxi = Self {
            rules,
            siblings: usize::from(hypervisor.siblings.max(1)),
            worlds: ById::new(),
            vms: ById::new(),
            pools: spec.resource_pools.clone(),
            limits: Vec::new(),
            clients: Vec::new(),
            levels: vec![0.0; nodes.len()],
            nodes,
            cores: ById::of(Processor::idle(), count),
            ready: Vec::new(),
            pending: std::collections::VecDeque::new(),
            poll_at: When::NEVER,
            rebalance_at: When::NEVER,
            looked_at: 0,
            rebalanced: 0,
            limit_at: When::NEVER,
        };
        for partition in &spec.partitions {
            esxi.add(partition);
        }
        esxi.limit_pools();
        esxi.count_shares(&vec![1.0; esxi.worlds.len()]);
        let reserves = esxi.vms.iter().any(|vm| vm.reservation > 0.0);
        if esxi.nodes.len() > 1 || reserves || !esxi.pools.is_empty() {
            esxi.rebalance_at = When::at(rules.rebalance_ns);
        }
        if !esxi.limits.is_empty() {
            esxi.limit_at = When::at(rules.limit_period_ns);
        }
        esxi
    }

    /// A virtual machine is started.
    fn add(&mut self, partition: &Partition) {
        let Processors::Shared {
            r#virtual, host, ..
        } = &partition.processors
        else {
            return;
        };
        let count = usize::from(*r#virtual);
        let of = PartitionId::new(self.vms.len());
        let worlds = Span::new(self.worlds.len(), count);
        let limit = host.cap.map(|cap| self.limit(None, cap, vec![of]));
        self.vms.push(Vm {
            worlds,
            shares: shares_of(host.machine().shares, count),
            reservation: host.machine().reservation,
            pool: host.machine().pool,
            limits: limit.map(Bound::whole).into_iter().collect(),
            most: host.cap.unwrap_or(f64::MAX),
            charged_ns: 0.0,
            held_from: When::NEVER,
            arrivals: vec![0; self.nodes.len()],
            count: HostCount::default(),
        });
        self.add_clients(of, worlds, partition);
        for (at, vp) in worlds.into_iter().enumerate() {
            let pins = host.pins.get(at).into_iter().flatten();
            let client = self.clients.iter().position(|one| one.worlds.contains(vp));
            self.worlds.push(World {
                vm: of,
                doing: Doing::Asleep,
                since: 0,
                core: None,
                pins: pins.map(|cpu| CoreId::from(*cpu)).collect(),
                client: client.expect("a client of each world"),
                progress_ns: 0,
                wanted_ns: 0,
                got_ns: 0.0,
            });
        }
    }

    /// A limit on some virtual machines together, by place in the list.
    fn limit(&mut self, pool: Option<usize>, cores: f64, members: Vec<PartitionId>) -> usize {
        self.limits.push(Limit {
            pool,
            members,
            cores,
            budget_ns: (cores * self.rules.limit_period_ns as f64).round() as i64,
            is_used_up: false,
        });
        self.limits.len() - 1
    }

    /// Limits of pools hold all that are in them, and in pools within.
    fn limit_pools(&mut self) {
        for at in 0..self.pools.len() {
            let Some(cores) = self.pools[at].limit else {
                continue;
            };
            let inside = |vm: &PartitionId| {
                let pools = &self.pools;
                let above = |of: &u16| pools[usize::from(*of)].parent;
                std::iter::successors(self.vms[*vm].pool, above).any(|pool| usize::from(pool) == at)
            };
            let members: Vec<PartitionId> = self.vms.ids().filter(inside).collect();
            let limit = self.limit(Some(at), cores, members.clone());
            for vm in members {
                self.vms[vm].limits.push(Bound::whole(limit));
            }
        }
    }

    /// Divides a virtual machine into clients and gives each a home.
    fn add_clients(&mut self, vm: PartitionId, worlds: Span<VpId>, partition: &Partition) {
        let cores = self.nodes[0].len() / self.siblings;
        let fit = worlds.len().div_ceil(cores.max(1));
        let count = fit.clamp(1, self.nodes.len());
        let pins: &[Vec<u16>] = match &partition.processors {
            Processors::Shared { host, .. } => &host.pins,
            Processors::Dedicated { .. } => &[],
        };
        let is_pinned = pins.iter().any(|pins| !pins.is_empty());
        let mut free: Vec<usize> = (0..self.nodes.len()).collect();
        let there = memory_on(partition, self.nodes.len());
        let mut from = worlds.numbers().start;
        for at in 0..count {
            let size = (worlds.len() + at) / count;
            let home = if is_pinned {
                let own = from - worlds.numbers().start;
                self.home_of_pins(&pins[own.min(pins.len())..(own + size).min(pins.len())])
            } else {
                self.best_home(&free, &there)
            };
            free.retain(|node| *node != home);
            let worlds = Span::new(from, size);
            from += size;
            self.clients.push(Client {
                vm,
                worlds,
                home,
                is_pinned,
                counts: self.vms[vm].shares / count as f64,
                is_left_out: false,
                clock: 0.0,
                had: Had::default(),
            });
        }
    }

    /// The node with most of the processors that virtual processors are pinned to.
    fn home_of_pins(&self, pins: &[Vec<u16>]) -> usize {
        let all = || pins.iter().flatten().map(|cpu| CoreId::from(*cpu));
        let on = |node: &usize| {
            all()
                .filter(|core| self.nodes[*node].contains(*core))
                .count()
        };
        let nodes = (0..self.nodes.len()).rev();
        nodes.max_by_key(on).unwrap_or(0)
    }

    /// The node with most of the memory, the least loaded one of those that have as much.
    fn best_home(&self, free: &[usize], there: &[f64]) -> usize {
        let load = |node: usize| {
            let at_home = self.clients.iter().filter(|client| client.home == node);
            let worlds: usize = at_home.map(|client| client.worlds.len()).sum();
            worlds as f64 / self.nodes[node].len() as f64
        };
        let most = free.iter().map(|node| there[*node]).fold(0.0, f64::max);
        let with_most = free
            .iter()
            .copied()
            .filter(|node| there[*node] >= most * NEARLY);
        let least = with_most.min_by(|a, b| load(*a).total_cmp(&load(*b)));
        least.expect("a node for each client")
    }
}

/// Part of the most memory that counts as just as much.
const NEARLY: f64 = 0.99;

/// Processors beside each memory node that has any.
fn nodes(tree: &Topology, count: usize) -> Vec<Span<CoreId>> {
    let each = usize::from(tree.cores_per_chip);
    let beside = |domain: MemoryId| {
        let chips = tree.chips_beside(domain).numbers();
        let first = (chips.start * each).min(count);
        Span::new(first, (chips.len() * each).min(count - first))
    };
    let all = tree.domains().into_iter().map(beside);
    all.filter(|node: &Span<CoreId>| !node.is_empty()).collect()
}

/// Memory of a partition on each node [bytes].
fn memory_on(partition: &Partition, nodes: usize) -> Vec<f64> {
    let mut there = vec![0.0; nodes];
    for part in &partition.memory {
        let each = part.bytes as f64 / part.domains.len().max(1) as f64;
        for domain in &part.domains {
            if let Some(bytes) = there.get_mut(usize::from(*domain)) {
                *bytes += each;
            }
        }
    }
    there
}
