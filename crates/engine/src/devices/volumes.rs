//! Paging volumes over control units.
//!
//! A volume does one I/O at a time; further ones wait for it, unless its control unit has an alias
//! to spare (HyperPAV), under which one more is on its way. What an I/O goes through:
//!
//! ```text
//! queue        until the volume or an alias takes it
//! pend         until its channel program runs at the volume, and for a channel
//! disconnect   until the data is in the storage server's cache: nothing on a hit
//! connect      on the channel: for each I/O, and for each page; longer in command mode
//! ```
//!
//! Service is pend, disconnect and connect, response is that and the queue.

use std::collections::VecDeque;

use super::channels::Channels;
use super::storage::{Storage, StorageCounters};
use crate::kernel::{Priority, Queue, Stream, Time};
use crate::spec;

/// What a volume did: I/Os that have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VolumeCounters {
    /// I/Os.
    pub ios: u64,
    /// Those that read.
    pub reads: u64,
    /// Pages in and out.
    pub pages: u64,
    /// Reads that the storage server's cache served.
    pub hits: u64,
    /// Time until the channel programs ran [ns].
    pub pend_ns: u64,
    /// Time waiting for the storage server's disks [ns].
    pub disc_ns: u64,
    /// Time on the channel [ns].
    pub conn_ns: u64,
    /// Time waiting for the volume [ns].
    pub queue_ns: u64,
}

impl VolumeCounters {
    /// Time in service [ns]: pend, disconnect and connect. Over the time that passed it is the
    /// volume's utilisation, above 1 where aliases work.
    pub fn service_ns(&self) -> u64 {
        self.pend_ns + self.disc_ns + self.conn_ns
    }

    /// Time from request to end [ns]: service and queue.
    pub fn response_ns(&self) -> u64 {
        self.service_ns() + self.queue_ns
    }
}

/// An I/O as it is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub pages: u32,
    /// Who waits for a read; none = a write, for which nobody waits.
    pub reader: Option<u64>,
}

/// An I/O on its way.
#[derive(Clone, Copy, Debug)]
struct Io {
    request: Request,
    volume: u16,
    /// Whether an alias carries it.
    alias: bool,
    hit: bool,
    /// When it was asked for, while it waits; then how long it waited.
    asked: Time,
    queue: Time,
    pend: Time,
    disc: Time,
    conn: Time,
}

#[derive(Clone, Copy)]
enum Event {
    Ask(u32),
    Connect(u32),
    End(u32),
}

#[derive(Default)]
struct Volume {
    busy: bool,
    waiting: VecDeque<u32>,
    counters: VolumeCounters,
}

/// All paging volumes of a partition at work.
pub(super) struct Volumes {
    pend: Time,
    connect: Time,
    page: Time,
    volumes: Vec<Volume>,
    /// Aliases to spare of each control unit.
    aliases: Vec<u16>,
    channels: Channels,
    storage: Storage,
    choice: Stream,
    events: Queue<Event>,
    ios: Vec<Io>,
    free: Vec<u32>,
}

impl Volumes {
    pub(super) fn new(spec: &spec::Paging, storage: Storage, choice: Stream) -> Self {
        let command = if spec.transport {
            0
        } else {
            spec.command_page_ns
        };
        let units = usize::from(spec.control_units.max(1));
        Self {
            pend: Time::from_ns(spec.pend_ns),
            connect: Time::from_ns(spec.connect_ns),
            page: Time::from_ns(spec.page_ns + command),
            volumes: (0..spec.volumes.max(1))
                .map(|_| Volume::default())
                .collect(),
            aliases: vec![spec.aliases; units],
            channels: Channels::of(spec),
            storage,
            choice,
            events: Queue::new(),
            ios: Vec::new(),
            free: Vec::new(),
        }
    }

    /// What each volume did.
    pub(super) fn counters(&self) -> impl ExactSizeIterator<Item = &VolumeCounters> {
        self.volumes.iter().map(|volume| &volume.counters)
    }

    pub(super) fn storage(&self) -> StorageCounters {
        self.storage.counters()
    }

    /// An I/O to one of the volumes, each with equal chance, at `at`, now or later.
    pub(super) fn ask(&mut self, now: Time, at: Time, request: Request) {
        let io = Io {
            request,
            volume: self.choice.below(self.volumes.len() as u64) as u16,
            alias: false,
            hit: true,
            asked: at,
            queue: Time::ZERO,
            pend: self.pend,
            disc: Time::ZERO,
            conn: Time::ZERO,
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.ios[id as usize] = io;
                id
            }
            None => {
                self.ios.push(io);
                self.ios.len() as u32 - 1
            }
        };
        if at > now {
            self.events.schedule(at, Priority::FIRST, Event::Ask(id));
        } else {
            self.arrive(now, id);
        }
    }

    /// When something happens next.
    pub(super) fn next_event(&mut self) -> Option<Time> {
        self.events.peek_time()
    }

    /// Takes what happens next, if it is due: the reader of a read that ended.
    pub(super) fn step(&mut self, now: Time) -> Option<Option<Request>> {
        if self.events.peek_time()? > now {
            return None;
        }
        let (at, _, event) = self.events.pop()?;
        match event {
            Event::Ask(id) => {
                self.arrive(at, id);
                Some(None)
            }
            Event::Connect(id) => {
                self.connect(at, id);
                Some(None)
            }
            Event::End(id) => Some(Some(self.end(at, id))),
        }
    }

    fn unit_of(&self, volume: u16) -> usize {
        usize::from(volume) % self.aliases.len()
    }

    fn arrive(&mut self, now: Time, id: u32) {
        let volume = self.ios[id as usize].volume;
        let unit = self.unit_of(volume);
        if !self.volumes[usize::from(volume)].busy {
            self.start(now, id, false);
        } else if self.aliases[unit] > 0 {
            self.start(now, id, true);
        } else {
            self.volumes[usize::from(volume)].waiting.push_back(id);
        }
    }

    fn start(&mut self, now: Time, id: u32, alias: bool) {
        let io = &mut self.ios[id as usize];
        io.alias = alias;
        io.queue = now - io.asked;
        // Pend is the same for all, so that reads reach the disks in the order of their starts.
        if io.request.reader.is_some() {
            let disc = self.storage.read(now + self.pend, io.request.pages);
            io.hit = disc.is_none();
            io.disc = disc.unwrap_or(Time::ZERO);
        }
        io.conn = self.connect + self.page * u64::from(io.request.pages);
        let (volume, ready, conn) = (io.volume, now + self.pend + io.disc, io.conn);
        if alias {
            let unit = self.unit_of(volume);
            self.aliases[unit] -= 1;
        } else {
            self.volumes[usize::from(volume)].busy = true;
        }
        let (at, next) = match self.channels {
            Channels::Endless => (ready + conn, Event::End(id)),
            _ => (ready, Event::Connect(id)),
        };
        self.events.schedule(at, Priority::FIRST, next);
    }

    /// A channel program is to be connected: it has a channel, or waits for one.
    fn connect(&mut self, now: Time, id: u32) {
        let request = self.ios[id as usize].request;
        let reads = request.reader.is_some();
        if let Some(begins) = self.channels.take(now, id, reads, request.pages) {
            self.transfer(now, begins, id);
        }
    }

    fn transfer(&mut self, ready: Time, begins: Time, id: u32) {
        let io = &mut self.ios[id as usize];
        io.pend += begins - ready;
        let end = begins + io.conn;
        self.events.schedule(end, Priority::FIRST, Event::End(id));
    }

    fn end(&mut self, now: Time, id: u32) -> Request {
        let io = self.ios[id as usize];
        if let Some((next, since)) = self.channels.leave() {
            self.transfer(since, now, next);
        }
        self.free.push(id);
        self.count(&io);
        let unit = self.unit_of(io.volume);
        if io.alias {
            self.aliases[unit] += 1;
            if let Some(next) = self.longest_waiting(unit) {
                self.start(now, next, true);
            }
        } else {
            let volume = &mut self.volumes[usize::from(io.volume)];
            volume.busy = false;
            if let Some(next) = volume.waiting.pop_front() {
                self.start(now, next, false);
            }
        }
        io.request
    }

    fn count(&mut self, io: &Io) {
        let read = io.request.reader.is_some();
        let counters = &mut self.volumes[usize::from(io.volume)].counters;
        counters.ios += 1;
        counters.reads += u64::from(read);
        counters.pages += u64::from(io.request.pages);
        counters.hits += u64::from(read && io.hit);
        counters.pend_ns += io.pend.as_ns();
        counters.disc_ns += io.disc.as_ns();
        counters.conn_ns += io.conn.as_ns();
        counters.queue_ns += io.queue.as_ns();
    }

    /// Takes the request that has waited longest for a volume of that control unit.
    fn longest_waiting(&mut self, unit: usize) -> Option<u32> {
        let step = self.aliases.len();
        let ios = &self.ios;
        let volume = self
            .volumes
            .iter_mut()
            .skip(unit)
            .step_by(step)
            .filter(|volume| !volume.waiting.is_empty())
            .min_by_key(|volume| ios[volume.waiting[0] as usize].asked)?;
        volume.waiting.pop_front()
    }
}
