//! Who decides where something runs: dispatchers of windows, and the list of hosts' schedulers.

use serde::{Deserialize, Serialize};

/// Hands the schedulers of hosts to a macro: variant of [`Policy`], name in files, and what it is.
/// The name is also that of its folder in `hypervisor/policies`.
macro_rules! host_policies {
    ($hand_to:ident) => {
        $hand_to! {
            Linux, linux, "the Linux scheduler, with KVM or without";
            Credit2, credit2, "Xen's scheduler credit2";
            Esxi, esxi, "VMware's scheduler of ESXi";
            RoundRobin, round_robin, "turns of one length, first come first served";
        }
    };
}
pub(crate) use host_policies;

macro_rules! policy {
    ($($host:ident, $name:ident, $title:literal;)*) => {
        /// Dispatching policies, a file or folder each in `hypervisor/policies`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Policy {
            /// PowerVM's hypervisor.
            Phyp,
            /// IBM Z's hypervisor, Processor Resource/Systems Manager.
            Prsm,
            /// Every partition has cores of its own, for good.
            Dedicated,
            $(#[doc = concat!("On a host: ", $title, ".")] $host,)*
        }

        impl Policy {
            /// All schedulers of hosts, in the order of the list.
            pub const HOSTS: &'static [Self] = &[$(Self::$host),*];

            /// The name in files and what it is in words; none for a dispatcher of windows.
            pub fn of_host(self) -> Option<(&'static str, &'static str)> {
                match self {
                    $(Self::$host => Some((stringify!($name), $title)),)*
                    Self::Phyp | Self::Prsm | Self::Dedicated => None,
                }
            }
        }
    };
}
host_policies!(policy);

impl Policy {
    /// Whether a host's scheduler decides, thread by thread.
    pub fn is_host(self) -> bool {
        Self::HOSTS.contains(&self)
    }

    /// Whether its host is a Linux system, which runs plain processes beside KVM's guests. A
    /// scheduler of one's own stands in the place of Linux's; Xen and ESXi run virtual machines
    /// only.
    pub fn runs_processes(self) -> bool {
        self.is_host() && !matches!(self, Self::Credit2 | Self::Esxi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_s_name_is_the_one_in_files() {
        for policy in Policy::HOSTS {
            let (name, _) = policy.of_host().unwrap();
            assert_eq!(serde_json::to_value(policy).unwrap(), name);
            assert!(policy.is_host());
        }
        assert_eq!(Policy::Phyp.of_host(), None);
        assert!(!Policy::Credit2.runs_processes() && !Policy::Prsm.runs_processes());
    }
}
