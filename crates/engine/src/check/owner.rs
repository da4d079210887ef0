//! Whose a number is.

use super::fault::{SpecFault, Wrong};
use crate::spec::Spec;

/// Sound, or what is wrong.
pub(crate) type Checked = Result<(), SpecFault>;

/// Somebody whose numbers are looked at, and where they stand in the spec.
#[derive(Clone, Debug)]
pub(crate) struct Owner {
    name: String,
    at: String,
}

impl Owner {
    /// Called `name` in messages, to be found at a JSON pointer.
    pub(crate) fn new(name: impl Into<String>, at: impl Into<String>) -> Self {
        let (name, at) = (name.into(), at.into());
        Self { name, at }
    }

    /// A partition, by its place in the spec.
    pub(crate) fn partition(spec: &Spec, at: usize) -> Self {
        let name = format!("partition {}", spec.partitions[at].name);
        Self::new(name, format!("/partitions/{at}"))
    }

    /// A pool, by its place in the spec.
    pub(crate) fn pool(spec: &Spec, at: usize) -> Self {
        let name = format!("pool {}", spec.pools[at].name);
        Self::new(name, format!("/pools/{at}"))
    }

    /// A group of partitions, by its place in the spec.
    pub(crate) fn group(spec: &Spec, at: usize) -> Self {
        let name = format!("group {}", spec.groups[at].name);
        Self::new(name, format!("/groups/{at}"))
    }

    /// The hypervisor, or the host's scheduler.
    pub(crate) fn hypervisor() -> Self {
        Self::new("hypervisor", "/machine/hypervisor")
    }

    /// What is nobody's.
    pub(crate) fn nobody(at: impl Into<String>) -> Self {
        Self::new("", at)
    }

    /// The same one, whose numbers stand deeper in the spec.
    pub(crate) fn within(&self, step: &str) -> Self {
        Self::new(self.name.clone(), format!("{}/{step}", self.at))
    }

    /// Something of it that has a name of its own.
    pub(crate) fn part(&self, name: &str, step: &str) -> Self {
        Self::new(format!("{}: {name}", self.name), self.within(step).at)
    }

    /// Something is wrong with all of it.
    pub(crate) fn refuse(&self, what: Wrong) -> SpecFault {
        SpecFault {
            owner: self.name.clone(),
            at: self.at.clone(),
            what: Box::new(what),
        }
    }

    /// The same thing stands twice at this place; nobody is to blame.
    pub(crate) fn twice(&self, what: &str, name: impl Into<String>) -> SpecFault {
        let what = Wrong::Twice {
            what: what.into(),
            name: name.into(),
        };
        Self::nobody(self.at.clone()).refuse(what)
    }

    /// Something that it names is not there.
    pub(crate) fn not_there(&self, field: &str, index: u64, count: u64) -> SpecFault {
        self.refuse(Wrong::NotThere {
            field: field.into(),
            index,
            count,
        })
    }
}
