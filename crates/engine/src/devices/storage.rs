//! A storage server: a read cache before a number of disks.
//!
//! All paged data is as likely to be read as any other, so a cache that holds `C` of `P` bytes
//! holds a page with the chance `C / P`, whichever it keeps. A read that misses stages more than it
//! asked for, since what lies behind it is likely to be wanted next; the reads of these pages hit.
//! So a read of `p` pages meets the first of what is staged together with the chance `p / staged`:
//!
//! ```text
//! hit(p) = 1 - (1 - C / P) min(1, p / staged)
//! ```
//!
//! A miss goes to the disk on which its data lies: data does not move to a free disk, hence a queue
//! for each disk and not one for all. A disk serves one request at a time, in their order. It needs
//! a seek and a part of a turn, together `d` on average; each is taken as anything between nothing
//! and `d` with equal chance, which gives the sum the variance `d^2 / 6`. Writes go to the server's
//! own memory and never wait; what the disks do to store them later is part of their mean time.

use crate::kernel::{Stream, Time};
use crate::spec;

/// Chance that a read of so many pages hits, if `paged_bytes` are on the volumes [0..1].
pub fn hit_share(server: &spec::StorageServer, paged_bytes: u64, pages: u32) -> f64 {
    if paged_bytes == 0 {
        return 1.0;
    }
    let outside = (1.0 - server.cache_bytes as f64 / paged_bytes as f64).clamp(0.0, 1.0);
    1.0 - outside * (f64::from(pages) / server.stage_pages.max(1.0)).min(1.0)
}

/// What a storage server did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageCounters {
    /// Requests to read, from the cache or from disks.
    pub reads: u64,
    /// Reads that its cache served.
    pub hits: u64,
    /// Time for which its disks were at work, all together [ns].
    pub disk_ns: u64,
}

/// A storage server at work.
#[derive(Clone, Debug)]
pub(super) struct Storage {
    server: spec::StorageServer,
    paged_bytes: u64,
    /// When each disk has done what it was asked so far.
    free: Vec<Time>,
    cache: Stream,
    disk: Stream,
    counters: StorageCounters,
}

impl Storage {
    pub(super) fn new(
        server: spec::StorageServer,
        paged_bytes: u64,
        stream: &dyn Fn(&str) -> Stream,
    ) -> Self {
        Self {
            server,
            paged_bytes,
            free: vec![Time::ZERO; usize::from(server.disks.max(1))],
            cache: stream("storage cache"),
            disk: stream("storage disk"),
            counters: StorageCounters::default(),
        }
    }

    pub(super) fn counters(&self) -> StorageCounters {
        self.counters
    }

    /// A seek and a turn, each anything up to the mean of both.
    fn service(&mut self) -> Time {
        let parts = self.disk.uniform() + self.disk.uniform();
        Time::from_ns_f64(parts * self.server.disk_ns as f64)
    }

    /// A read that reaches the server at `now`, none before the last one: how long its disks take,
    /// or none if it hits.
    pub(super) fn read(&mut self, now: Time, pages: u32) -> Option<Time> {
        self.counters.reads += 1;
        if self
            .cache
            .chance(hit_share(&self.server, self.paged_bytes, pages))
        {
            self.counters.hits += 1;
            return None;
        }
        let disk = self.disk.below(self.free.len() as u64) as usize;
        let service = self.service();
        self.counters.disk_ns += service.as_ns();
        self.free[disk] = self.free[disk].max(now) + service;
        Some(self.free[disk] - now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(disks: u16) -> spec::StorageServer {
        spec::StorageServer {
            cache_bytes: 750,
            stage_pages: 40.0,
            disks,
            disk_ns: 8_000_000,
        }
    }

    #[test]
    fn hits_by_hand() {
        // A quarter is outside the cache, and a read of 10 is the first of 40 pages one time in 4.
        assert_eq!(hit_share(&server(1), 1000, 10), 1.0 - 0.25 * 0.25);
        assert_eq!(hit_share(&server(1), 1000, 80), 0.75);
        assert_eq!(hit_share(&server(1), 750, 80), 1.0);
        assert_eq!(hit_share(&server(1), 0, 80), 1.0);
    }

    #[test]
    fn a_disk_serves_in_turn() {
        let mut storage = Storage::new(server(1), u64::MAX, &|name| Stream::new(1, 0, name));
        let waits: Vec<Time> = (0..3)
            .map(|_| storage.read(Time::from_ms(5), 40).unwrap())
            .collect();
        assert!(waits[0] < waits[1] && waits[1] < waits[2]);
        assert_eq!(storage.counters().disk_ns, waits[2].as_ns());
    }

    #[test]
    fn one_disk_at_half_load_by_pollaczek_and_khinchine() {
        // 8 ms (1 + 1/2 (1 + 1/6) / (2 (1 - 1/2))) = 12.67 ms.
        let mut storage = Storage::new(server(1), u64::MAX, &|name| Stream::new(1, 0, name));
        let mut arrivals = Stream::new(1, 0, "arrivals");
        let (mut now, mut sum) = (Time::ZERO, Time::ZERO);
        for _ in 0..400_000 {
            now += arrivals.exponential_time(Time::from_ms(16));
            sum += storage.read(now, 40).unwrap();
        }
        let mean = sum.as_ns_f64() / 400_000.0;
        assert!((mean / (8e6 * 19.0 / 12.0) - 1.0).abs() < 0.02, "{mean}");
    }
}
