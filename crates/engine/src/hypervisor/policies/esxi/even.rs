//! Evens nodes out: some virtual machines change theirs where another node is less loaded.
//!
//! "The NUMA rebalancer computes the CPU imbalance between nodes, accounting for the difference
//! between each virtual machine's CPU time entitlement and its actual consumption" (vSphere
//! Resource Management, advanced NUMA attributes). So a node's load is what those at home there are
//! entitled to of what they want, and moves count by what they leave of that difference too: a
//! small one may leave a node that is full, though the two stay uneven. `sched-stats -t numa-pnode`
//! shows the same figures by node: used, idle, entitled, owed. How the two are weighed is not
//! published.

use super::parts::Had;
use super::{Client, Esxi};

/// A node, or what it would be after a move.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// Cores.
    capacity: f64,
    /// Work that all its threads do beside what as many cores do [cores].
    threads: f64,
    /// What those at home there are due [cores].
    load: f64,
    /// What they lack of it [cores].
    owed: f64,
}

impl Node {
    /// What is lacking where so much is due: each has a core as long as there are cores, then
    /// threads share them.
    fn lacking(&self, load: f64) -> f64 {
        let beside = (load - self.capacity).max(0.0);
        let each = if self.threads > 0.0 {
            self.threads / self.capacity
        } else {
            0.0
        };
        beside - (each * beside).min(self.threads)
    }

    /// With so much more due there, or less: what goes takes what it lacks along, and leaves what
    /// it got to others.
    fn with(self, more: f64) -> Self {
        let load = self.load + more;
        let owed = (self.owed + more.min(0.0)).max(self.lacking(load));
        Self { load, owed, ..self }
    }
}

/// Two nodes between which clients move: from the more loaded one.
#[derive(Clone, Copy, Debug)]
struct Pair {
    from: (usize, Node),
    to: (usize, Node),
}

impl Pair {
    /// How much more is due on the first, as a part of a node.
    fn apart(&self) -> f64 {
        self.from.1.load / self.from.1.capacity - self.to.1.load / self.to.1.capacity
    }

    /// What is lacking on both, as a part of a node.
    fn owed(&self) -> f64 {
        self.from.1.owed / self.from.1.capacity + self.to.1.owed / self.to.1.capacity
    }

    fn after(&self, net: f64) -> Self {
        Self {
            from: (self.from.0, self.from.1.with(-net)),
            to: (self.to.0, self.to.1.with(net)),
        }
    }

    fn turned(self) -> Self {
        Self {
            from: self.to,
            to: self.from,
        }
    }
}

/// A client that goes, perhaps one that comes, and what is left then.
#[derive(Clone, Copy, Debug)]
struct Move {
    goes: usize,
    comes: Option<usize>,
    left: Pair,
}

impl Move {
    /// Loads differ least, and least is lacking; fewer moves among equals.
    fn is_better(&self, than: &Self) -> bool {
        let by = self.left.apart().abs() - than.left.apart().abs();
        by < -CLOSE || by <= CLOSE && self.left.owed() < than.left.owed() - CLOSE
    }
}

impl Esxi {
    /// Moves clients between two nodes, or swaps pairs, until the two are even enough or a further
    /// move would bring too little; none where too much would be left. The first two nodes count of
    /// which any may move: from the most loaded to the least.
    pub(super) fn even_out(&mut self, had: &[Had], now: u64) {
        let all = 0..self.nodes.len();
        let nodes: Vec<Node> = all.map(|node| self.node(node, had)).collect();
        let mut by_load: Vec<usize> = (0..nodes.len()).collect();
        let load = |node: usize| nodes[node].load / nodes[node].capacity;
        by_load.sort_by(|a, b| load(*a).total_cmp(&load(*b)));
        for (at, from) in by_load.iter().enumerate().rev() {
            for to in &by_load[..at] {
                let (from, to) = ((*from, nodes[*from]), (*to, nodes[*to]));
                if self.even_two(Pair { from, to }, had, now) {
                    return;
                }
            }
        }
    }

    fn node(&self, node: usize, had: &[Had]) -> Node {
        let all = self.clients.iter().zip(had);
        let here = || all.clone().filter(|(client, _)| client.home == node);
        let capacity = self.nodes[node].len() as f64 / self.siblings as f64;
        let all_busy = self.nodes[node].len() as f64 * self.rules.shared_core;
        Node {
            capacity,
            threads: (all_busy - capacity).max(0.0),
            load: here().map(|(_, had)| had.due).sum(),
            owed: here().map(|(_, had)| (had.due - had.got).max(0.0)).sum(),
        }
    }

    /// Whether any moved between two nodes.
    fn even_two(&mut self, pair: Pair, had: &[Had], now: u64) -> bool {
        let before: Vec<usize> = self.clients.iter().map(|client| client.home).collect();
        let mut left = pair;
        while let Some(found) = self.next_move(left, had) {
            self.clients[found.goes].home = left.to.0;
            if let Some(comes) = found.comes {
                self.clients[comes].home = left.from.0;
            }
            left = found.left;
            if left.apart() < 0.0 {
                left = left.turned();
            }
        }
        let clients = self.clients.iter_mut().zip(before);
        let after: Vec<usize> = clients
            .map(|(client, home)| std::mem::replace(&mut client.home, home))
            .collect();
        if !self.is_worth(pair, left) {
            return false;
        }
        let moved = |at: &usize| self.clients[*at].home != after[*at];
        let moved: Vec<usize> = (0..after.len()).filter(moved).collect();
        for at in &moved {
            self.change_home(*at, after[*at], now);
        }
        !moved.is_empty()
    }

    /// Whether little enough is left of what two nodes differ by, in load or in what is lacking.
    fn is_worth(&self, before: Pair, left: Pair) -> bool {
        let little = |left: f64, of: f64| left <= self.rules.thrash * of + CLOSE;
        let lack = before.owed() > self.rules.imbalance;
        little(left.apart(), before.apart()) || lack && little(left.owed(), before.owed())
    }

    /// The best move between two nodes, if they differ enough and it brings enough.
    fn next_move(&self, pair: Pair, had: &[Had]) -> Option<Move> {
        if pair.apart() <= self.rules.imbalance {
            return None;
        }
        self.best_move(pair, had)
    }

    /// The best of all clients, or pairs, that may move. Two of one virtual machine that would
    /// share a node may still change places.
    fn best_move(&self, pair: Pair, had: &[Had]) -> Option<Move> {
        let on = |node: usize| {
            let all = self.clients.iter().enumerate();
            let able =
                move |(_, client): &(usize, &Client)| client.home == node && !client.is_pinned;
            all.filter(able).map(|(at, _)| at).collect::<Vec<_>>()
        };
        let apart = pair.apart();
        let mut best: Option<Move> = None;
        let mut consider = |goes: usize, comes: Option<usize>| {
            let net = had[goes].due - comes.map_or(0.0, |at| had[at].due);
            let left = pair.after(net);
            let found = Move { goes, comes, left };
            // Loads come nearer by each, or one whose work comes and goes might go to and fro.
            let most = (apart - self.rules.improvement).min(apart - CLOSE);
            if left.apart().abs() <= most && best.is_none_or(|best| found.is_better(&best)) {
                best = Some(found);
            }
        };
        let (going, coming) = (on(pair.from.0), on(pair.to.0));
        let goes_alone = |at: &&usize| !self.has_sibling(&self.clients[**at], pair.to.0);
        for goes in going.iter().filter(goes_alone) {
            consider(*goes, None);
        }
        for goes in &going {
            for comes in &coming {
                if self.may_swap(*goes, *comes) {
                    consider(*goes, Some(*comes));
                }
            }
        }
        best
    }

    /// Whether two clients may change their nodes: no two of one virtual machine share one then.
    pub(super) fn may_swap(&self, goes: usize, comes: usize) -> bool {
        let (one, other) = (&self.clients[goes], &self.clients[comes]);
        let apart = !self.has_sibling(one, other.home) && !self.has_sibling(other, one.home);
        one.vm == other.vm || apart
    }

    /// Whether another client of the same virtual machine is at home on a node.
    fn has_sibling(&self, client: &Client, node: usize) -> bool {
        let mut others = self.clients.iter();
        others.any(|other| other.vm == client.vm && other.home == node)
    }
}

/// Part by which two figures of a division may differ for their bits.
const CLOSE: f64 = 1e-9;
