//! A walk through memory, asked and answered as JSON.

use homenode_engine::walk::{walk as answer, Walk};
use pyo3::prelude::*;
use serde_json::{json, Map, Value};

use crate::errors::SpecError;

/// Answers what walking through a buffer costs (JSON in, JSON out); raises `SpecError`.
#[pyfunction]
pub fn walk(question_json: &str) -> PyResult<String> {
    let question: Walk = serde_json::from_str(question_json)
        .map_err(|fault| SpecError::new_err(format!("walk: {fault}")))?;
    let walked = answer(&question).map_err(|fault| SpecError::new_err(fault.to_string()))?;
    let parts: Map<String, Value> = walked
        .parts
        .iter()
        .map(|part| (part.cause.to_string(), json!(part.ns)))
        .collect();
    Ok(json!({
        "level": walked.level,
        "footprint_bytes": walked.footprint_bytes,
        "latency_ns": walked.latency_ns,
        "line_ns": walked.line_ns,
        "bytes_per_s": walked.bytes_per_s,
        "parts": parts,
    })
    .to_string())
}
