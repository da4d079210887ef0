//! W1 as a bare loop.

use std::collections::VecDeque;

use super::heap::{key, unpack, Heap};
use super::random::Random;
use crate::load::{Waits, ARRIVAL_NS, SERVERS, SERVICE_NS};

/// Runs `events` arrivals and completions.
pub fn run(events: u64, seed: u64) -> Waits {
    let mut random = Random::new(seed);
    let mut heap = Heap::new();
    // Id 0 is the arrivals, 1..=64 the servers.
    let mut free: Vec<u8> = (1..=SERVERS as u8).rev().collect();
    let mut waiting = VecDeque::with_capacity(1 << 12);
    let mut seen = Waits::default();
    heap.push(key((random.exponential() * ARRIVAL_NS as f64) as u64, 0));
    for _ in 0..events {
        let (now, id) = unpack(heap.top());
        if id == 0 {
            heap.replace_top(key(
                now + (random.exponential() * ARRIVAL_NS as f64) as u64,
                0,
            ));
            if let Some(server) = free.pop() {
                seen.customers += 1;
                let done = now + (random.exponential() * SERVICE_NS as f64) as u64;
                heap.push(key(done, server as usize));
            } else {
                waiting.push_back(now);
            }
        } else if let Some(arrived) = waiting.pop_front() {
            seen.customers += 1;
            seen.wait_ns += now - arrived;
            heap.replace_top(key(
                now + (random.exponential() * SERVICE_NS as f64) as u64,
                id,
            ));
        } else {
            heap.pop();
            free.push(id as u8);
        }
    }
    seen
}
