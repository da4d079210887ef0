//! A virtual switch: what goes through it, and how long its list was searched.
//!
//! A layer-2 switch finds the receiver in a table and searches nothing. The uplink port carries
//! nothing: guests on one switch reach each other without it. Frames are neither lost nor delayed.

use super::list::Search;
use crate::spec;

/// Data frames that a receiver acknowledges with one of its own (RFC 1122, 4.2.3.2: at least every
/// second full segment).
const FRAMES_ACKNOWLEDGED: u64 = 2;

/// A virtual switch at work.
#[derive(Clone, Debug)]
pub struct Switch {
    layer: spec::Layer,
    frame_bytes: u64,
    vnics: u32,
    counters: SwitchCounters,
    /// Searches and their time on lines when the window began.
    window: (f64, f64),
}

/// What went through a switch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SwitchCounters {
    /// Frames passed on to a receiver.
    pub frames: u64,
    /// Payload [bytes].
    pub bytes: u64,
    /// Searches of the list.
    pub searches: f64,
    /// Control blocks looked at.
    pub elements: f64,
    /// Lines that came from another processor for it.
    pub transfers: f64,
    /// Time of these transfers [ns].
    pub list_ns: f64,
    /// Waiting for lines on their way to others [ns].
    pub line_wait_ns: f64,
}

/// A message as a switch takes it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parcel {
    bytes: u64,
    frames: u64,
}

impl Parcel {
    /// Frames into which it is cut, and those beside it.
    pub fn frames(&self) -> u64 {
        self.frames
    }
}

impl SwitchCounters {
    /// Counts messages that are alike.
    pub fn pass(&mut self, messages: u64, parcel: &Parcel) {
        self.frames += messages * parcel.frames;
        self.bytes += messages * parcel.bytes;
    }

    /// Counts searches, and what one of them cost.
    pub fn search(&mut self, searches: f64, search: &Search) {
        self.searches += searches;
        self.elements += searches * search.elements;
        self.transfers += searches * search.transfers;
        self.list_ns += searches * search.list_ns;
        self.line_wait_ns += searches * search.line_wait_ns;
    }
}

impl Switch {
    /// A switch to which so many VNICs are coupled.
    pub fn new(spec: &spec::Switch, vnics: u32) -> Self {
        Self {
            layer: spec.layer,
            frame_bytes: u64::from(spec.frame_bytes.max(1)),
            vnics,
            counters: SwitchCounters::default(),
            window: (0.0, 0.0),
        }
    }

    /// VNICs coupled to it: the length of its list.
    pub fn vnics(&self) -> u32 {
        self.vnics
    }

    /// Whether it searches a list.
    #[inline]
    pub fn searches(&self) -> bool {
        self.layer == spec::Layer::Ip
    }

    /// Frames of a message of so many bytes; an empty one is a frame too.
    pub fn frames_of(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.frame_bytes).max(1)
    }

    /// A message of so many bytes, with so many frames beside it that carry no data.
    pub fn parcel(&self, bytes: u64, beside: u64) -> Parcel {
        Parcel {
            bytes,
            frames: self.frames_of(bytes) + beside,
        }
    }

    /// What follows a request, an answer and the end of a think time. What acknowledges the last
    /// frames of an answer goes with what is sent after it.
    pub fn parcels(&self, workload: &spec::Workload) -> [Parcel; 3] {
        let spec::Workload::Web {
            request_bytes,
            file_bytes,
            think_ns,
            ..
        } = *workload
        else {
            return [Parcel::default(); 3];
        };
        // Nothing to say yet before a think time: what came is acknowledged by itself.
        let next_bytes = if think_ns > 0 { 0 } else { request_bytes };
        let acknowledgements = if file_bytes > 0 {
            self.frames_of(file_bytes) / FRAMES_ACKNOWLEDGED
        } else {
            0
        };
        [
            self.parcel(file_bytes, 0),
            self.parcel(next_bytes, acknowledgements.saturating_sub(1)),
            self.parcel(request_bytes, 0),
        ]
    }

    /// What went through it so far, as far as it was told.
    pub fn counters(&self) -> &SwitchCounters {
        &self.counters
    }

    /// The same, for who has more to tell.
    pub fn counters_mut(&mut self) -> &mut SwitchCounters {
        &mut self.counters
    }

    /// Ends a window: mean time of one of `processors` busy processors between two of its searches,
    /// apart from their lines [ns]; infinite if nothing was searched.
    pub fn close_window(&mut self, window_ns: f64, processors: f64) -> f64 {
        let now = (
            self.counters.searches,
            self.counters.list_ns + self.counters.line_wait_ns,
        );
        let searches = now.0 - self.window.0;
        let lines_ns = now.1 - self.window.1;
        self.window = now;
        if searches > 0.0 {
            ((processors.max(1.0) * window_ns - lines_ns) / searches).max(0.0)
        } else {
            f64::INFINITY
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Layer;

    fn switch(layer: Layer) -> Switch {
        let spec = spec::Switch {
            name: "tile".into(),
            layer,
            frame_bytes: 8192,
        };
        Switch::new(&spec, 45)
    }

    fn search() -> Search {
        Search {
            elements: 23.0,
            instructions: 230.0,
            transfers: 10.0,
            list_ns: 1_000.0,
            line_wait_ns: 50.0,
        }
    }

    #[test]
    fn messages_are_cut_into_frames() {
        let switch = switch(Layer::Ethernet);
        let frames = [0, 1, 8192, 8193, 1 << 20].map(|bytes| switch.frames_of(bytes));
        assert_eq!(frames, [1, 1, 1, 2, 128]);
    }

    /// Two searches for each of the eleven frames of a message.
    fn told(layer: Layer) -> Switch {
        let mut switch = switch(layer);
        let parcel = switch.parcel(10 * 8192, 1);
        switch.counters_mut().pass(2, &parcel);
        if switch.searches() {
            switch.counters_mut().search(44.0, &search());
        }
        switch
    }

    #[test]
    fn a_table_is_not_searched() {
        let mut switch = told(Layer::Ethernet);
        assert_eq!(switch.counters().searches, 0.0);
        assert_eq!(switch.counters().bytes, 20 * 8192);
        assert!(switch.close_window(1e7, 19.0).is_infinite());
    }

    #[test]
    fn a_list_is_searched_for_every_frame() {
        let counters = *told(Layer::Ip).counters();
        assert_eq!((counters.frames, counters.searches), (22, 44.0));
        assert_eq!((counters.transfers, counters.list_ns), (440.0, 44_000.0));
        assert_eq!(
            (counters.elements, counters.line_wait_ns),
            (44.0 * 23.0, 2_200.0)
        );
    }

    #[test]
    fn time_between_searches_leaves_their_lines_out() {
        let mut switch = told(Layer::Ip);
        // Two processors for 100 us, less 46.2 us, over 44 searches.
        let outside = switch.close_window(100_000.0, 2.0);
        assert!((outside - (200_000.0 - 46_200.0) / 44.0).abs() < 1e-9);
        assert!(switch.close_window(100_000.0, 2.0).is_infinite());
    }
}
