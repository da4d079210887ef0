//! What may be wrong with a spec, whose it is and where it stands.

use crate::machine::MachineFault;

/// What is wrong with a spec.
#[derive(Clone, Debug, PartialEq)]
pub struct SpecFault {
    /// Whose it is, such as `partition web`; empty for what is nobody's.
    pub owner: String,
    /// Where it stands in the spec, as a JSON pointer: `/partitions/0/processors/virtual`.
    pub at: String,
    /// Why it cannot be simulated.
    pub what: Box<Wrong>,
}

impl std::fmt::Display for SpecFault {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.owner.is_empty() {
            write!(to, "{}: ", self.owner)?;
        }
        write!(to, "{}", self.what)
    }
}

impl std::error::Error for SpecFault {}

impl From<MachineFault> for SpecFault {
    /// Nobody's, for the machine's name stands in the fault.
    fn from(fault: MachineFault) -> Self {
        // Fields are named as in the spec, some with words behind the name.
        let field = fault.field().split([' ', '-']).next().unwrap_or_default();
        let steps = match field {
            "" | "1" => "smt",
            "cache" => "caches",
            field => field,
        };
        Self {
            owner: String::new(),
            at: format!("/machine/{}", steps.replace('.', "/")),
            what: Box::new(fault.into()),
        }
    }
}

/// What may be wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Wrong {
    /// A number of the hardware's description.
    #[error("{0}")]
    Machine(#[from] MachineFault),
    /// A number out of its range.
    #[error("{field} is {value}, it must be {range}")]
    Range {
        /// Which.
        field: String,
        /// Value given.
        value: f64,
        /// What it must be.
        range: String,
    },
    /// Something named that is not there.
    #[error("{field} {index} is not there, the machine has {count}")]
    NotThere {
        /// What kind of thing.
        field: String,
        /// Index asked for.
        index: u64,
        /// How many there are.
        count: u64,
    },
    /// Something that nobody can change while it runs.
    #[error("{key} of partition {partition} cannot change while it runs; what can here: {known}")]
    NotChangeable {
        /// Which.
        key: String,
        /// Name of the one whose it is.
        partition: String,
        /// What else can, in words.
        known: String,
    },
    /// More capacity promised than there is.
    #[error("{asked} cores are entitled, {available} are there")]
    Overcommitted {
        /// Sum of entitlements [cores].
        asked: f64,
        /// Cores.
        available: f64,
    },
    /// A memory domain that does not hold what the strict policy puts there.
    #[error(
        "with the strict memory policy its processors at memory domain {domain} put \
         {asked_bytes} bytes there, its memory of that domain alone is {there_bytes} bytes; give \
         it more there or choose another policy"
    )]
    NoRoom {
        /// Memory domain in which data is to lie.
        domain: u16,
        /// Bytes to be placed.
        asked_bytes: f64,
        /// Bytes that the partition has of that domain alone.
        there_bytes: f64,
    },
    /// Processors that the machine's policy has no use for.
    #[error(
        "its processors are {asked}, but on machine {machine} every partition has cores \
         of its own for good; give it dedicated cores that are not lent"
    )]
    NotShared {
        /// What they are: shared, or donated while idle.
        asked: String,
        /// Name of the one whose hypervisor shares nothing.
        machine: String,
    },
    /// Cores lent where the hypervisor lends none.
    #[error(
        "its cores are donated while idle, but PR/SM on machine {machine} lends no \
         dedicated cores; leave donating out"
    )]
    NotLent {
        /// Name of the one that lends none.
        machine: String,
    },
    /// Something of PR/SM on a machine that has another hypervisor.
    #[error(
        "polarization, absolute caps, defined capacity, groups and core types are \
         PR/SM's, machine {machine} has another hypervisor; leave them out or take an IBM Z"
    )]
    NotPrsm {
        /// Name of the one with another hypervisor.
        machine: String,
    },
    /// Something of a host on a machine that is none.
    #[error(
        "control groups, pins, slices, KVM's settings and threads as processors are a \
         Linux or Xen host's, machine {machine} has another hypervisor; leave them out or take a \
         host"
    )]
    NotHost {
        /// Name of the one with another hypervisor.
        machine: String,
    },
    /// Something of other hypervisors on a host.
    #[error("{what} is not to be had on the host {machine}; {instead}")]
    NotOnHost {
        /// What it asks for.
        what: String,
        /// Name of the host, as its description has it.
        machine: String,
        /// What to do instead.
        instead: String,
    },
    /// Sharing of what is not there.
    #[error(
        "pool {pool} has no physical core that is not dedicated; give it cores or make \
         the partition dedicated"
    )]
    NoSharedCore {
        /// Which.
        pool: String,
    },
    /// A workload that z/VM's virtual machines don't have.
    #[error(
        "what runs in z/VM runs in its virtual machines; give the partition the workload \
         web, or idle, and the machines their roles"
    )]
    NotWeb,
    /// Virtual machines' work in a partition that has none.
    #[error(
        "the workload web runs in virtual machines; make z/VM the partition's guest or \
         choose another workload"
    )]
    NotZvm,
    /// Virtual machines that find no place in memory.
    #[error(
        "its virtual machines have {guest_bytes} bytes, its central memory is \
         {central_bytes}; {short_bytes} bytes find no place there nor on paging volumes: give it \
         memory or paging volumes"
    )]
    NoPaging {
        /// Memory of its virtual machines [bytes].
        guest_bytes: u64,
        /// Its own [bytes].
        central_bytes: u64,
        /// What has no place [bytes].
        short_bytes: u64,
    },
    /// More clients and servers talk to each other than can be kept apart.
    #[error(
        "its clients and servers make {connections} connections, each client with each server on \
         its switch, at most {most} can be simulated; couple fewer of them to a switch"
    )]
    TooManyConnections {
        /// Connections on all switches.
        connections: u64,
        /// How many can be simulated.
        most: u64,
    },
    /// Two things with one identity.
    #[error("{what} {name} occurs twice")]
    Twice {
        /// What kind of thing.
        what: String,
        /// Which.
        name: String,
    },
}
