//! What schedulers must satisfy of which nothing is said but what they say themselves.

use super::linux::check_kvm;
use super::refusal::refuse_if;
use crate::check::{range, within, Checked, Owner};
use crate::hypervisor::policies::settings_of;
use crate::spec::{HostThreads, Hypervisor, Spec};

/// Numbers that the scheduler in charge knows, in their ranges.
pub fn check_settings(hypervisor: &Hypervisor) -> Checked {
    let owner = &Owner::new("hypervisor", "/machine/hypervisor/settings");
    let known = settings_of(hypervisor.policy);
    for (name, value) in &hypervisor.settings {
        let Some(setting) = known.iter().find(|setting| setting.name == name) else {
            let wanted = "left out: it has none";
            return Err(range(owner, &**name, *value as f64, wanted));
        };
        within(owner, &**name, *value, setting.least, setting.most)?;
    }
    Ok(())
}

/// Threads of a scheduler that has turns for all alike.
pub fn check_alike(spec: &Spec, host: &HostThreads, owner: &Owner) -> Checked {
    let known = HostThreads {
        pins: host.pins.clone(),
        kvm: host.kvm.clone(),
        virtualized: host.virtualized.clone(),
        ..HostThreads::default()
    };
    let what = "a control group, a cap, a slice or a nice value";
    let instead = "leave it out or choose another policy";
    refuse_if(spec, owner, *host != known, what, instead)?;
    let kvm = host.kvm.as_ref();
    kvm.map_or(Ok(()), |kvm| check_kvm(kvm, &owner.within("kvm")))
}
