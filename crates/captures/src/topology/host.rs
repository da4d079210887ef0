//! What a listing says of a host beside its tree.

use serde::Serialize;

use super::console::in_words;
use super::model::Topology;

/// Whose hardware it is that only a guest sees, by the names that its firmware and processor have.
pub(crate) fn virtual_hardware(names: &str) -> Option<String> {
    let known = ["VMware", "KVM", "QEMU", "Virtual Machine"];
    let found = known.into_iter().find(|name| names.contains(name));
    found.map(str::to_owned)
}

/// A host as its own operating system sees it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Host {
    /// The tree; none where only numbers are known.
    pub topology: Option<Topology>,
    /// `ppc64`, `s390x`, `x86_64`, `ia64`, as the kernel calls it.
    pub architecture: Option<String>,
    /// Name of its processor as printed.
    pub processor: Option<String>,
    /// Clock [MHz].
    pub clock_mhz: Option<f64>,
    /// Machine type or product as printed.
    pub model: Option<String>,
    /// Name of the host or partition.
    pub name: Option<String>,
    /// What it runs under, in the words of the listing; empty if under something without a name.
    pub hypervisor: Option<String>,
    /// Memory that the operating system has [bytes].
    pub memory_bytes: Option<u64>,
    /// Numbers of each kind of object, in words.
    pub summary: String,
}

impl Host {
    /// Sets `summary` from the tree.
    #[must_use]
    pub(crate) fn summed(mut self) -> Self {
        if let Some(topology) = &self.topology {
            self.summary = in_words(&topology.root);
        }
        self
    }
}
