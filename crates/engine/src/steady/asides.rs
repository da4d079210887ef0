//! Cores of several types: each type is shared out by itself, and they meet in caches and links.

use crate::ids::ChipId;
use crate::spec::Processors;
use crate::steady::layout::form::Form;
use crate::steady::layout::state::State;

impl State {
    /// Looks at the cores of another type from now on.
    pub fn turn_to(&mut self, core_type: usize) {
        if core_type != self.at_type {
            self.swap(self.at_type);
            self.swap(core_type);
            self.at_type = core_type;
        }
    }

    fn swap(&mut self, core_type: usize) {
        let of = &mut self.aside[core_type];
        std::mem::swap(&mut self.free, &mut of.free);
        std::mem::swap(&mut self.idle, &mut of.idle);
        std::mem::swap(&mut self.used, &mut of.used);
        std::mem::swap(&mut self.comers, &mut of.comers);
    }

    /// What runs on cores of other types of a chip.
    pub fn used_beside(&self, chip: ChipId) -> f64 {
        let others = self.aside.iter().enumerate();
        let others = others.filter(|(of, _)| *of != self.at_type);
        others.map(|(_, of)| of.used[chip]).sum()
    }

    /// Cores of several types that nobody owns; all of the machine.
    pub fn share_out_types(&mut self, forms: &[&Form]) {
        for core_type in 0..self.types.count {
            self.turn_to(core_type);
            self.free.iter_mut().for_each(|cores| *cores = 0.0);
        }
        let owned: Vec<u16> = forms
            .iter()
            .filter_map(|form| match &form.partition.processors {
                Processors::Dedicated { cores, .. } => Some(cores.iter().copied()),
                Processors::Shared { .. } => None,
            })
            .flatten()
            .collect();
        for core in 0..self.tree.active_cores {
            if !owned.contains(&core) {
                self.turn_to(self.types.of(core.into()));
                self.free[self.tree.chip_of(core.into())] += 1.0;
            }
        }
        self.turn_to(0);
    }
}
