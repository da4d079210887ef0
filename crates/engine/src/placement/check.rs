//! What cannot be placed is refused by name.

use super::fault::PlacementFault;
use super::load::Load;
use super::problem::Problem;
use super::services::Services;

/// Costs stay below, so that sums and differences of two are exact.
const GREATEST: i128 = 1 << 62;

/// Checks all figures of a problem, then its start.
///
/// # Errors
/// The first that cannot be.
pub fn check(problem: &Problem) -> Result<(), PlacementFault> {
    lengths(problem)?;
    names(problem)?;
    figures(problem)?;
    Load::new(problem).full(problem)?;
    Services::new(problem).broken()
}

fn lengths(problem: &Problem) -> Result<(), PlacementFault> {
    let (machines, resources) = (problem.machines(), problem.resources());
    let partitions = problem.partitions();
    for (what, got, want) in [
        ("load_weight", problem.load_weight.len(), resources),
        ("neighbourhood", problem.neighbourhood.len(), machines),
        ("capacity", problem.capacity.len(), machines * resources),
        ("safety", problem.safety.len(), machines * resources),
        ("way", problem.way.len(), machines * machines),
        ("needs", problem.needs.len(), problem.spread.len()),
        (
            "requirement",
            problem.requirement.len(),
            partitions * resources,
        ),
        ("move_cost", problem.move_cost.len(), partitions),
        ("start", problem.start.len(), partitions),
    ] {
        if got != want {
            return Err(PlacementFault::Length { what, got, want });
        }
    }
    Ok(())
}

fn names(problem: &Problem) -> Result<(), PlacementFault> {
    let (machines, services) = (problem.machines(), problem.spread.len());
    known("service", &problem.service, services)?;
    known("start", &problem.start, machines)?;
    // As many as machines are enough, and tables by location or neighbourhood stay small.
    known("neighbourhood", &problem.neighbourhood, machines)?;
    known("location", &problem.location, machines)?;
    for needs in &problem.needs {
        known("needs", needs, services)?;
    }
    for balance in &problem.balances {
        let both = [balance.first as u32, balance.second as u32];
        known("balances", &both, problem.resources())?;
    }
    Ok(())
}

fn known(what: &'static str, names: &[u32], count: usize) -> Result<(), PlacementFault> {
    let unknown = names.iter().position(|&name| name as usize >= count);
    unknown.map_or(Ok(()), |row| {
        let got = names[row] as usize;
        Err(PlacementFault::Unknown {
            what,
            row,
            got,
            count,
        })
    })
}

fn figures(problem: &Problem) -> Result<(), PlacementFault> {
    let weights = &problem.weights;
    let of_balance = |value: fn(&super::problem::Balance) -> i64| -> Vec<i64> {
        problem.balances.iter().map(value).collect()
    };
    for (what, values) in [
        ("load_weight", &problem.load_weight),
        ("capacity", &problem.capacity),
        ("safety", &problem.safety),
        ("requirement", &problem.requirement),
        ("move_cost", &problem.move_cost),
        ("target", &of_balance(|one| one.target)),
        ("weight", &of_balance(|one| one.weight)),
        (
            "weights",
            &vec![weights.partition, weights.service, weights.way],
        ),
    ] {
        if let Some(at) = values.iter().position(|&value| value < 0) {
            let got = values[at];
            return Err(PlacementFault::Negative { what, at, got });
        }
    }
    if greatest(problem) >= GREATEST {
        return Err(PlacementFault::Overflow);
    }
    Ok(())
}

/// A bound of all costs: everything on one machine, or nothing on any, and every partition moved
/// the longest way.
fn greatest(problem: &Problem) -> i128 {
    let resources = problem.resources();
    let column = |values: &[i64], resource: usize| -> i128 {
        let column = values.iter().skip(resource).step_by(resources);
        column.map(|&value| i128::from(value)).sum()
    };
    let mut most = 0;
    for (resource, &weight) in problem.load_weight.iter().enumerate() {
        most += i128::from(weight) * column(&problem.requirement, resource);
    }
    for balance in &problem.balances {
        let scale = i128::from(balance.weight) * (i128::from(balance.target) + 1);
        most += scale * column(&problem.capacity, balance.first);
        most += i128::from(balance.weight) * column(&problem.requirement, balance.second);
    }
    let weights = &problem.weights;
    let partitions = problem.partitions() as i128;
    let longest = i128::from(problem.way.iter().copied().max().unwrap_or(0));
    let moving: i128 = problem.move_cost.iter().copied().map(i128::from).sum();
    most + i128::from(weights.partition) * moving
        + i128::from(weights.way) * longest * partitions
        + i128::from(weights.service) * partitions
}
