//! Partitions placed on machines: columns of integers in, a column out.

use crate::errors::SpecError;
use homenode_engine::placement::{self, Balance, Limits, Problem, Weights};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The columns of a problem, by name.
struct Columns<'a, 'py>(&'a Bound<'py, PyDict>);

impl Columns<'_, '_> {
    fn numbers(&self, name: &str) -> PyResult<Vec<i64>> {
        let Some(column) = self.0.get_item(name)? else {
            return Err(refused(name, "is not there"));
        };
        if let Ok(buffer) = PyBuffer::<i64>::get(&column) {
            return buffer.to_vec(self.0.py());
        }
        let numbers = column.extract();
        numbers.map_err(|_| refused(name, "is no list of integers of 64 bits"))
    }

    fn indices(&self, name: &str) -> PyResult<Vec<u32>> {
        let numbers = self.numbers(name)?.into_iter().map(u32::try_from);
        let indices: Result<_, _> = numbers.collect();
        indices.map_err(|_| refused(name, "has a number below 0 or above 2^32 - 1"))
    }

    fn rows<const WIDTH: usize>(&self, name: &str) -> PyResult<Vec<[i64; WIDTH]>> {
        let numbers = self.numbers(name)?;
        let rows = numbers.chunks(WIDTH).map(<[i64; WIDTH]>::try_from);
        let rows: Result<_, _> = rows.collect();
        rows.map_err(|_| refused(name, &format!("is not rows of {WIDTH} values")))
    }
}

fn refused(name: &str, what: &str) -> PyErr {
    SpecError::new_err(format!("placement: {name} {what}"))
}

fn problem(columns: &Columns<'_, '_>) -> PyResult<Problem> {
    let spread = columns.indices("spread")?;
    let mut needs = vec![Vec::new(); spread.len()];
    for [service, other] in columns.rows("needs")? {
        let unknown = || refused("needs", &format!("names service {service} or {other}"));
        let row = usize::try_from(service)
            .ok()
            .and_then(|at| needs.get_mut(at));
        let other = u32::try_from(other).map_err(|_| unknown())?;
        row.ok_or_else(unknown)?.push(other);
    }
    let mut balances = Vec::new();
    for [first, second, target, weight] in columns.rows("balances")? {
        let resource = |number: i64| {
            let unknown = |_| refused("balances", &format!("names resource {number}"));
            usize::try_from(number).map_err(unknown)
        };
        balances.push(Balance {
            first: resource(first)?,
            second: resource(second)?,
            target,
            weight,
        });
    }
    let weights: [i64; 3] = <[i64; 3]>::try_from(columns.numbers("weights")?)
        .map_err(|_| refused("weights", "has not 3 values"))?;
    let transient = columns.numbers("transient")?;
    Ok(Problem {
        transient: transient.into_iter().map(|is| is != 0).collect(),
        load_weight: columns.numbers("load_weight")?,
        neighbourhood: columns.indices("neighbourhood")?,
        location: columns.indices("location")?,
        capacity: columns.numbers("capacity")?,
        safety: columns.numbers("safety")?,
        way: columns.indices("way")?,
        spread,
        needs,
        service: columns.indices("service")?,
        requirement: columns.numbers("requirement")?,
        move_cost: columns.numbers("move_cost")?,
        balances,
        weights: Weights {
            partition: weights[0],
            service: weights[1],
            way: weights[2],
        },
        start: columns.indices("start")?,
    })
}

/// Looks for the assignment of least cost without holding Python's lock; raises `SpecError` where
/// the problem or its start is unsound. `watch(moves, cost)` answers which share of the time is
/// gone, 1 to stop; what it raises, and Ctrl-C, comes out here.
#[pyfunction]
#[pyo3(signature = (columns, watch, *, seed, searches, threads, moves=None))]
pub fn place<'py>(
    py: Python<'py>,
    columns: &Bound<'py, PyDict>,
    watch: &Bound<'py, PyAny>,
    seed: u64,
    searches: usize,
    threads: usize,
    moves: Option<u64>,
) -> PyResult<Bound<'py, PyDict>> {
    let problem = problem(&Columns(columns))?;
    let limits = Limits {
        seed,
        searches,
        threads,
        moves,
    };
    let watch = watch.clone().unbind();
    let mut failure: Option<PyErr> = None;
    let placed = py.detach(|| {
        placement::place(&problem, &limits, &mut |moves, cost| {
            let asked = Python::attach(|py| {
                py.check_signals()?;
                watch.call1(py, (moves, cost))?.extract::<f64>(py)
            });
            asked.unwrap_or_else(|fault| {
                failure.get_or_insert(fault);
                1.0
            })
        })
    });
    if let Some(fault) = failure {
        return Err(fault);
    }
    let placed = placed.map_err(|fault| SpecError::new_err(fault.to_string()))?;
    let answer = PyDict::new(py);
    answer.set_item("at", placed.at)?;
    answer.set_item("cost", placed.cost)?;
    answer.set_item("moves", placed.moves)?;
    Ok(answer)
}
