//! A part of the machine that is solved while the rest stays as it is: some nodes, and who runs
//! there.

use crate::ids::{NodeId, PortId, Span};
use crate::steady::layout::form::Form;
use crate::steady::queues::chain::Load;

/// A part of the machine.
#[derive(Clone, Debug, Default)]
pub(in crate::steady) struct Scope {
    pub nodes: Vec<NodeId>,
    /// Ports of the fabric there.
    pub ports: Vec<PortId>,
    /// Partitions that are worked out.
    pub active: Vec<usize>,
    /// Others that run there, or have memory there, as they did.
    pub passive: Vec<usize>,
    /// Numbers under which workloads of partitions that have several are priced.
    pub workloads: Vec<usize>,
    /// What all others use of the shared cores.
    pub others: Used,
    /// Whether it is the whole machine.
    pub whole: bool,
    /// Whether each chip is priced by itself, those that are alike too.
    pub apart: bool,
}

/// What partitions use of the shared cores.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::steady) struct Used {
    /// Mean number of virtual processors with work, its variance, the most there can be.
    pub mean: f64,
    pub variance: f64,
    pub most: f64,
    /// Cores that daemons and polling take.
    pub beside: f64,
}

impl Scope {
    /// The whole machine, of which each chip may be priced by itself.
    pub fn whole(nodes: Span<NodeId>, partitions: usize, priced: usize, apart: bool) -> Self {
        Self {
            nodes: nodes.into_iter().collect(),
            active: (0..partitions).collect(),
            workloads: (partitions..priced).collect(),
            whole: true,
            apart,
            ..Self::default()
        }
    }

    /// The same, in which chips that are alike are priced together.
    pub fn roughly(&self) -> Self {
        Self {
            apart: false,
            ..self.clone()
        }
    }

    /// The same for each type of core, with the partitions that share those.
    pub fn by_type(&self, forms: &[&Form], types: usize) -> Vec<Self> {
        if types < 2 {
            return Vec::new();
        }
        let of = |core_type: usize| Self {
            active: self
                .active
                .iter()
                .copied()
                .filter(|at| forms[*at].core_type == core_type)
                .collect(),
            ..self.clone()
        };
        (0..types).map(of).collect()
    }

    /// All that is priced there.
    pub fn priced(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        self.there().chain(self.workloads.iter().copied())
    }

    /// All that run there.
    pub fn there(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        self.active.iter().chain(&self.passive).copied()
    }
}

impl Used {
    /// Adds what a partition uses: those that wait within their share ask for nobody's core.
    pub fn add(&mut self, (load, waits): (&Load, f64), beside: f64, form: &Form) {
        if form.owns {
            return;
        }
        self.mean += load.vps * (1.0 - waits);
        self.variance += load.vps_variance;
        self.most += f64::from(form.filled.vps());
        self.beside += beside;
    }

    /// Without what one that was added asks for beyond the most that it may use.
    pub fn less(&mut self, load: &Load, waits: f64, most: f64) {
        let mean = load.vps * (1.0 - waits);
        let part = (most / mean.max(1e-12)).min(1.0);
        self.mean -= (1.0 - part) * mean;
        self.variance -= (1.0 - part * part) * load.vps_variance;
    }
}
