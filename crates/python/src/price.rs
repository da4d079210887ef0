//! The price of a layout as JSON.

use homenode_engine::cost::{Books, BOOK_NAMES, LINE_NAMES};
use homenode_engine::spec::Spec;
use homenode_engine::steady::{self, ChipPrice, Cost, PartitionPrice, PriceFault, Refill};
use serde_json::{json, Map, Value};

/// Prices a layout and returns the answer as a JSON object.
pub fn price(spec: &Spec, busy: &[Vec<f64>]) -> Result<String, PriceFault> {
    let prices = steady::price(spec, busy)?;
    let partitions: Vec<Value> = prices.iter().map(partition).collect();
    Ok(json!({ "partitions": partitions }).to_string())
}

/// A partition that keeps no core busy has no cost: the fields are null.
fn partition(price: &PartitionPrice) -> Value {
    let cost = |field: fn(&Cost) -> Value| price.cost.as_ref().map(field);
    json!({
        "name": price.name,
        "ns": cost(|it| json!(it.ns)),
        "cpi": cost(|it| json!(it.cpi)),
        "books": cost(|it| books(&it.books)),
        "lines": cost(|it| named(&LINE_NAMES, &it.lines.0)),
        "refill": price.cost.as_ref().map(|_| refill(&price.refill)),
        "by_chip": price.by_chip.iter().map(chip).collect::<Vec<Value>>(),
    })
}

fn chip(price: &ChipPrice) -> Value {
    json!({
        "chip": price.chip.index(),
        "cores": price.cores,
        "ns": price.ns,
        "books": books(&price.books),
    })
}

fn refill(refill: &Refill) -> Value {
    json!({
        "private_lines": refill.private_lines,
        "lines": refill.lines,
        "ns": refill.ns,
    })
}

fn books(books: &Books) -> Value {
    named(&BOOK_NAMES, &books.0)
}

pub(super) fn named(names: &[&str], values: &[f64]) -> Value {
    let pairs = names.iter().zip(values);
    let object: Map<String, Value> = pairs.map(|(k, v)| (k.to_string(), json!(v))).collect();
    Value::Object(object)
}
