//! Window boundaries: progress is booked, cost classes are refreshed, and once a second guests
//! fold. What else a window means is the system's affair.

use super::event::{Event, WINDOWS};
use super::system::System;
use super::world::World;
use crate::ids::LoadId;
use crate::kernel::Time;

/// Time between two calls of [`System::second`], and two foldings [ns].
pub(super) const SECOND_NS: u64 = 1_000_000_000;

impl<S: System> World<S> {
    /// A dispatch window begins.
    pub fn open_window(&mut self) {
        let window = self.spec.machine.hypervisor.window_ns;
        self.settle_all();
        self.settle_costs();
        self.table.close_window(self.now, window as f64);
        S::close_window(self, window);
        self.windows += 1;
        self.window_end = self.now + window;
        let end = Time::from_ns(self.window_end);
        self.queue.schedule(end, WINDOWS, Event::Window);
        if self.now >= self.changes.due_ns {
            self.open_changed_window();
        } else {
            S::open_window(self);
        }
        if self.now > 0 && self.now / SECOND_NS != (self.now - window) / SECOND_NS {
            self.every_second();
        }
    }

    /// A window that begins with another configuration.
    #[inline(never)]
    fn open_changed_window(&mut self) {
        let concerned = self.take_changes();
        S::open_window(self);
        self.put_online(&concerned);
        self.start_and_stop();
    }

    /// Books the progress of every runner up to now.
    pub fn settle_all(&mut self) {
        for core in self.at.active() {
            self.settle(core);
        }
    }

    /// Turns time spent in cost classes into books and instructions.
    pub fn settle_costs(&mut self) {
        S::settle_costs(self);
        let meters = &mut self.meters;
        self.table.settle(|partition, books, lines, instructions| {
            let of = self.loads[LoadId::from(partition)].partition;
            let meter = &mut meters.partitions[of];
            meter.books.add_scaled(books, 1.0);
            meter.lines.add_scaled(lines, 1.0);
            meter.instructions += instructions;
        });
    }

    fn every_second(&mut self) {
        for partition in self.partitions() {
            self.fold(partition);
            S::second(self, partition);
        }
    }
}
