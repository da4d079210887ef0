//! What partitions are entitled to under PR/SM, and what limits several together.

use crate::hypervisor::entitlements;
use crate::hypervisor::grants::{grants, Claim};
use crate::spec::{Policy, Pool, Processors, Spec};
use crate::steady::fault::SolveFault;
use crate::steady::layout::core_types::CoreTypes;
use crate::steady::layout::form::Form;
use crate::steady::layout::state::State;

/// What each is entitled to, and the part of it that caps leave.
type Entitled = Vec<(f64, f64)>;

/// Partitions are entitled to this from now on.
pub(in crate::steady) fn entitle(state: &mut State, entitled: Option<Entitled>) {
    for (doing, entitled) in state.doing.iter_mut().zip(entitled.into_iter().flatten()) {
        (doing.entitled, doing.allowed) = entitled;
        doing.due = doing.entitled * doing.allowed;
    }
}

/// Under PR/SM weights become entitlements, of the cores of a type that are nobody's own.
pub(in crate::steady) fn weigh(
    spec: &Spec,
    types: &CoreTypes,
    forms: &[Vec<Form>],
    chosen: &[usize],
) -> Option<Entitled> {
    if spec.machine.hypervisor.policy != Policy::Prsm {
        return None;
    }
    let forms = || chosen.iter().zip(forms).map(|(at, of)| &of[*at]);
    let mut entitled: Vec<f64> = forms()
        .map(|form| if form.owns { form.entitled } else { 0.0 })
        .collect();
    let mut cores = types.cores(spec.machine.active_cores);
    for form in forms() {
        if let Processors::Dedicated { cores: own, .. } = &form.partition.processors {
            own.iter()
                .for_each(|core| cores[types.of((*core).into())] -= 1);
        }
    }
    for (core_type, cores) in cores.into_iter().enumerate() {
        let told = |form: &Form| match &form.partition.processors {
            Processors::Shared {
                weight, r#virtual, ..
            } if form.core_type == core_type => (*weight, *r#virtual),
            _ => (0, 0),
        };
        let weights: Vec<(u16, u16)> = forms().map(told).collect();
        let by_weight = entitlements(cores.max(0) as u32, &weights);
        entitled
            .iter_mut()
            .zip(by_weight)
            .for_each(|(sum, own)| *sum += own);
    }
    if forms().all(|form| form.group.is_none() && form.cap.is_infinite()) {
        return Some(entitled.into_iter().map(|own| (own, 1.0)).collect());
    }
    let claims: Vec<Claim> = entitled
        .iter()
        .zip(forms())
        .map(|(own, form)| within(*own, form))
        .collect();
    // A group's cap is shared out by weight, and to nobody more than he is entitled to.
    let left = grants(&claims, f64::INFINITY, &limits(spec));
    let part = |(own, left): (f64, f64)| (own, if own > 0.0 { left / own } else { 1.0 });
    Some(entitled.into_iter().zip(left).map(part).collect())
}

/// What caps that always hold leave of an entitlement.
fn within(entitled: f64, form: &Form) -> Claim {
    let wants = Claim {
        wants: entitled,
        limit: f64::INFINITY,
        ..Claim::default()
    };
    match &form.partition.processors {
        Processors::Shared { weight, prsm, .. } => Claim {
            limit: prsm.cap.unwrap_or(f64::INFINITY),
            weight: f64::from(*weight),
            group: form.group,
            ..wants
        },
        Processors::Dedicated { .. } => Claim { entitled, ..wants },
    }
}

/// A group whose members share cores of several types is not known: each type is shared out alone.
pub(in crate::steady) fn refuse_mixed_groups(forms: &[&Form]) -> Result<(), SolveFault> {
    let other = |one: &&&Form| {
        let mixed = |of: &&Form| of.group == one.group && of.core_type != one.core_type;
        one.group.is_some() && forms.iter().any(mixed)
    };
    match forms.iter().find(other) {
        Some(form) => Err(SolveFault::Unknown {
            partition: form.partition.name.clone(),
            what: "a group with cores of several types".into(),
        }),
        None => Ok(()),
    }
}

/// Limits of pools; under PR/SM, of groups.
pub(in crate::steady) fn limits(spec: &Spec) -> Vec<f64> {
    if spec.machine.hypervisor.policy == Policy::Prsm {
        return spec.groups.iter().map(|group| group.cap).collect();
    }
    let most = |pool: &Pool| pool.maximum.unwrap_or(f64::INFINITY);
    spec.pools.iter().map(most).collect()
}
