//! A replication's summary as JSON.

use homenode_engine::sim::{columns, Elapsed, LoadSummary, PartitionSummary, Quantiles, Summary};
use serde_json::{json, Map, Value};

/// The summary as a JSON object.
pub fn to_json(summary: &Summary) -> String {
    let partitions: Vec<Value> = summary.partitions.iter().map(partition).collect();
    json!({
        "replication": summary.replication,
        "events": summary.events,
        "sim_ns": summary.sim_ns,
        "partitions": partitions,
        "pool_idle_ns": summary.pool_idle_ns,
        "cores_ns": summary.cores_ns,
    })
    .to_string()
}

fn partition(summary: &PartitionSummary) -> Value {
    let names = columns::partition();
    let totals: Map<String, Value> = names
        .into_iter()
        .zip(&summary.totals)
        .skip(2)
        .map(|(name, total)| (name, json!(total)))
        .collect();
    let mut told = json!({
        "name": summary.name,
        "totals": totals,
        "response_ns": quantiles(&summary.response),
        "dispatch_wait_ns": quantiles(&summary.dispatch_wait),
        "finished": elapsed(&summary.finished),
        "steady": {
            "is_steady": summary.steady.is_steady,
            "reason": reason(summary),
            "backlog_start": summary.steady.backlog_start,
            "backlog_end": summary.steady.backlog_end,
            "vp_busy_share": summary.vp_busy_share,
        },
    });
    if summary.unanswered > 0 {
        told["unanswered"] = json!(summary.unanswered);
    }
    if !summary.loads.is_empty() {
        told["workloads"] = summary.loads.iter().map(load).collect();
    }
    told
}

fn load(summary: &LoadSummary) -> Value {
    let named = columns::LOAD.into_iter().zip(&summary.totals).skip(3);
    let totals: Map<String, Value> = named
        .map(|(name, total)| (name.to_string(), json!(total)))
        .collect();
    json!({
        "name": summary.name,
        "totals": totals,
        "response_ns": quantiles(&summary.response),
        "finished": elapsed(&summary.finished),
    })
}

fn elapsed(e: &Elapsed) -> Value {
    json!({ "count": e.count, "sum": e.sum_ns, "min": e.least_ns, "max": e.most_ns })
}

fn quantiles(q: &Quantiles) -> Value {
    json!({
        "count": q.count, "mean": q.mean, "p50": q.p50, "p95": q.p95, "p99": q.p99,
        "p999": q.p999, "max": q.max,
    })
}

fn reason(summary: &PartitionSummary) -> Option<String> {
    let steady = &summary.steady;
    (!steady.is_steady).then(|| {
        format!(
            "the backlog grew from {:.0} to {:.0} transactions while {:.0} % of the virtual \
             processors had work",
            steady.backlog_start,
            steady.backlog_end,
            100.0 * summary.vp_busy_share
        )
    })
}
