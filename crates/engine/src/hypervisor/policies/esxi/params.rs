//! The numbers of ESXi's scheduler, as `esxcli system settings advanced list` names them.

use crate::hypervisor::Setting;
use crate::spec::Hypervisor;

const MS: u64 = 1_000_000;
const DEFAULT: &str = "VSPHERE-SETTINGS: default of ESXi 6.7 to 8.0";

const QUANTUM: Setting = Setting {
    name: "quantum_ns",
    usual: 200 * MS,
    least: MS,
    most: 1_000 * MS,
    meaning: "Cpu.Quantum: for how long one runs before an equal takes over",
    source: DEFAULT,
    assumed: "",
};
const LAG_QUANTA: Setting = Setting {
    name: "bound_lag_quanta",
    usual: 8,
    least: 1,
    most: 100,
    meaning: "Cpu.BoundLagQuanta: most quanta that a virtual machine is owed for having waited",
    source: DEFAULT,
    assumed: "",
};
const COSTOP: Setting = Setting {
    name: "costop_ns",
    usual: 3 * MS,
    least: 0,
    most: 100 * MS,
    meaning:
        "Cpu.CoschedCostopThreshold: lead over the slowest sibling at which one is stopped; 0 \
              is never",
    source: DEFAULT,
    assumed: "",
};
const COSTART: Setting = Setting {
    name: "costart_ns",
    usual: 2 * MS,
    least: 0,
    most: 100 * MS,
    meaning: "Cpu.CoschedCostartThreshold: lead below which it may go on",
    source: DEFAULT,
    assumed: "",
};
const POLL: Setting = Setting {
    name: "cosched_poll_ns",
    usual: MS,
    least: MS,
    most: 5 * MS,
    meaning: "Cpu.CoschedPollUsec: time between two looks at the leads",
    source: DEFAULT,
    assumed: "",
};
const REBALANCE: Setting = Setting {
    name: "rebalance_ns",
    usual: 2_000 * MS,
    least: 100 * MS,
    most: 60_000 * MS,
    meaning: "Numa.RebalancePeriod: time between two looks at the load of the nodes",
    source: DEFAULT,
    assumed: "",
};
const IMBALANCE: Setting = Setting {
    name: "imbalance_percent",
    usual: 10,
    least: 1,
    most: 200,
    meaning: "Numa.MigImbalanceThreshold: difference in load, in percent of a node, from which on \
              a virtual machine changes its node",
    source: DEFAULT,
    assumed: "",
};
const IMPROVEMENT: Setting = Setting {
    name: "improvement_percent",
    usual: 2,
    least: 0,
    most: 100,
    meaning: "Numa.MigThreshold: least by which one move or exchange must bring nodes nearer, in \
              percent of a node",
    source: DEFAULT,
    assumed: "",
};
const THRASH: Setting = Setting {
    name: "thrash_percent",
    usual: 50,
    least: 0,
    most: 100,
    meaning:
        "Numa.MigThrashThreshold: most that may be left of the difference in load, or of what \
              is lacking, after all moves of a look, in percent of it",
    source: DEFAULT,
    assumed: "",
};
const FAIRNESS: Setting = Setting {
    name: "fairness_periods",
    usual: 5,
    least: 0,
    most: 1_000,
    meaning: "Numa.LTermFairnessInterval: after how many such looks who is owed most changes its \
              node with who got most; 0 is never",
    source: DEFAULT,
    assumed: "",
};
const OWED: Setting = Setting {
    name: "owed_percent",
    usual: 10,
    least: 0,
    most: 100,
    meaning:
        "Numa.LTermMigImbalThreshold: least that one must be owed for that, in percent of what \
              it is due",
    source: DEFAULT,
    assumed: "",
};
const SHARED_CORE: Setting = Setting {
    name: "shared_core_permille",
    usual: 625,
    least: 500,
    most: 1_000,
    meaning: "what a thousandth of a second beside a busy sibling thread counts, in microseconds",
    source: "",
    assumed: "two busy threads of a core do 1.25 times what one does; ESX 4 counted half",
};
const LEAD: Setting = Setting {
    name: "preempt_ns",
    usual: MS,
    least: 0,
    most: 100 * MS,
    meaning: "how far one that wakes must be behind a runner in what it is due to take its place",
    source: "",
    assumed: "a round number: short beside a quantum, long beside a switch",
};
const LIMIT_PERIOD: Setting = Setting {
    name: "limit_period_ns",
    usual: 20 * MS,
    least: MS,
    most: 200 * MS,
    meaning: "period in which a limit is given out",
    source: "",
    assumed: "a tenth of Cpu.LimitEnforcementThreshold, 200 ms, beyond which one waits in any case",
};

/// All that a scenario may set.
pub(super) const SETTINGS: &[Setting] = &[
    QUANTUM,
    LAG_QUANTA,
    COSTOP,
    COSTART,
    POLL,
    REBALANCE,
    IMBALANCE,
    IMPROVEMENT,
    THRASH,
    FAIRNESS,
    OWED,
    SHARED_CORE,
    LEAD,
    LIMIT_PERIOD,
];

/// Their values on a machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) quantum_ns: u64,
    /// Longest time that a virtual machine is owed for having waited [ns].
    pub(super) lag_ns: u64,
    pub(super) costop_ns: u64,
    pub(super) costart_ns: u64,
    pub(super) poll_ns: u64,
    pub(super) rebalance_ns: u64,
    /// Difference in load that moves one, as a part of a node.
    pub(super) imbalance: f64,
    /// Least that a move must take off it, as a part of a node.
    pub(super) improvement: f64,
    /// Most of it that may be left by all moves.
    pub(super) thrash: f64,
    /// Looks at the nodes between two at who is owed most; 0 = none.
    pub(super) fairness_periods: u64,
    /// Least that one must be owed, as a part of what it is due.
    pub(super) owed: f64,
    /// What time beside a busy sibling thread counts, as a part of it.
    pub(super) shared_core: f64,
    pub(super) preempt_ns: u64,
    pub(super) limit_period_ns: u64,
}

impl Rules {
    /// As a machine has them.
    pub(super) fn of(hypervisor: &Hypervisor) -> Self {
        let percent = |setting: &Setting| setting.of(hypervisor) as f64 / 100.0;
        let quantum_ns = QUANTUM.of(hypervisor);
        let costop_ns = COSTOP.of(hypervisor);
        Self {
            quantum_ns,
            lag_ns: LAG_QUANTA.of(hypervisor) * quantum_ns,
            costop_ns,
            costart_ns: COSTART.of(hypervisor).min(costop_ns),
            poll_ns: POLL.of(hypervisor),
            rebalance_ns: REBALANCE.of(hypervisor),
            imbalance: percent(&IMBALANCE),
            improvement: percent(&IMPROVEMENT),
            thrash: percent(&THRASH),
            fairness_periods: FAIRNESS.of(hypervisor),
            owed: percent(&OWED),
            shared_core: SHARED_CORE.of(hypervisor) as f64 / 1000.0,
            preempt_ns: LEAD.of(hypervisor),
            limit_period_ns: LIMIT_PERIOD.of(hypervisor),
        }
    }
}
