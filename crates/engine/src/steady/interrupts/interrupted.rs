//! What interrupts take of the processors of a Linux host.
//!
//! Whoever runs on a processor stands still for as long and is not charged, so a partition's cores
//! stay what they are and its work takes longer by the share that interrupts have of the processors
//! where its threads are. Threads that always have work are moved away from a processor that has
//! lost more than Linux lets be, while another one is idle.

use crate::ids::{ChipId, CoreId};
use crate::machine::Topology;
use crate::steady::interrupts::waiting::{waits, Asker};
use crate::steady::layout::form::Form;
use crate::steady::layout::host::Host;
use crate::steady::layout::state::State;
use crate::steady::queues::demand::Arrivals;
use crate::steady::queues::devices::{Handled, Handling, Part, NEARLY_ALL};

/// Answers in a nanosecond from which on it is seen how many more there could be.
const FEWEST: f64 = 1e-12;
/// Share of a processor beyond which its only task is given away: `imbalance_pct` is 117.
const LET_BE: f64 = 1.0 - 100.0 / 117.0;

/// What a partition's interrupts ask of the host's processors.
struct Asks<'a> {
    handling: &'a Handling,
    /// By part: processors that do it, and the time of each [ns].
    parts: Vec<(Vec<u16>, f64)>,
    /// How long the device waits with an interrupt [ns].
    waits_ns: f64,
    /// Interrupts in a nanosecond that somebody waits for: transactions from outside, and users.
    answers: [f64; 2],
}

/// What all interrupts take of each processor, by its number.
struct Taken {
    all: Vec<f64>,
    /// Of that what nobody waits for, and what transactions from outside do.
    unasked: Vec<f64>,
    outside: Vec<f64>,
    /// The same as `all`, each interrupt by its own time [ns].
    squares: Vec<f64>,
}

impl Taken {
    fn of(asks: &[Option<Asks>], cpus: usize) -> Self {
        let none = vec![0.0; cpus];
        let mut taken = Self {
            all: none.clone(),
            unasked: none.clone(),
            outside: none.clone(),
            squares: none,
        };
        for asks in asks.iter().flatten() {
            for (cpus, ns) in &asks.parts {
                let each = ns / cpus.len() as f64;
                for cpu in cpus.iter().map(|cpu| usize::from(*cpu)) {
                    taken.all[cpu] += asks.rate() * each;
                    taken.unasked[cpu] += asks.handling.rate_per_ns * each;
                    taken.outside[cpu] += asks.answers[0] * each;
                    taken.squares[cpu] += asks.rate() * each * ns;
                }
            }
        }
        taken
    }

    /// How many times as many answers as now a processor can give to those from outside.
    fn could(&self, cpu: usize) -> f64 {
        let most = NEARLY_ALL * (1.0 - self.unasked[cpu]).max(0.0);
        most / self.outside[cpu].max(1e-12)
    }

    /// What each processor has for users, who come less often the longer they wait: what the others
    /// leave.
    fn room(&self) -> Vec<f64> {
        let others = self.unasked.iter().zip(&self.outside);
        let of = |(unasked, outside): (&f64, &f64)| {
            (NEARLY_ALL * (1.0 - unasked).max(0.0) - outside).max(0.0)
        };
        others.map(of).collect()
    }
}

impl State {
    /// What interrupts take of each lot of a host, and what that, and waiting for I/O threads, does
    /// to whose threads run there.
    pub(in crate::steady) fn handle_on_host(&mut self, forms: &[&Form]) {
        let cost = |form: &&Form| form.handling.is_some() || form.asks_io.is_some();
        if !forms.iter().any(cost) {
            return;
        }
        let asks: Vec<Option<Asks>> = forms
            .iter()
            .enumerate()
            .map(|(at, form)| self.asks(at, form))
            .collect();
        let taken = Taken::of(&asks, self.tree.active_cores.into());
        let lost: Vec<f64> = match &mut self.host {
            Some(host) => {
                host.take_from_lots(&taken.all);
                host.handling = by_chip(&self.tree, &taken.all);
                let busy: Vec<f64> = self.doing.iter().map(|doing| doing.load.vps).collect();
                let used = host.used(&busy);
                let of = |(at, form): (usize, &&Form)| host.lost_by(at, form, (&taken.all, &used));
                forms.iter().enumerate().map(of).collect()
            }
            None => return,
        };
        let answered = self.answered(forms, (&asks, &taken));
        for (at, (mut now, lost)) in answered.into_iter().zip(lost).enumerate() {
            (now.lost, now.outside) = (lost, true);
            now.wait_for_the_most(&forms[at].demand, &self.doing[at].load);
            self.doing[at].handled.turn_to(now, 0.5 * self.pace);
        }
    }

    /// When who waits for interrupts, or for threads that do I/O, gets an answer.
    fn answered(&self, forms: &[&Form], (asks, taken): (&[Option<Asks>], &Taken)) -> Vec<Handled> {
        let mut all = Vec::with_capacity(forms.len());
        let mut askers = Vec::with_capacity(forms.len());
        for (at, asks) in asks.iter().enumerate() {
            let handled = asks.as_ref().map(|asks| asks.handled(taken));
            let mut now = handled.unwrap_or_default();
            if let Some((waits_ns, most)) = self.io_waits(at, forms) {
                now.answer_ns += waits_ns;
                now.most = Some(now.most.map_or(most, |other| other.min(most)));
            }
            askers.push(Asker {
                users: self.users(at, forms[at]),
                parts: asks.as_ref().map_or_else(Vec::new, |of| of.parts.clone()),
                answer_ns: now.answer_ns,
            });
            all.push(now);
        }
        let room = taken.room();
        let waits = waits(&askers, &room);
        for (now, asker) in all.iter_mut().zip(&askers) {
            now.answer_ns += asker.waits_ns(&waits);
            if asker.finds_none(&room) {
                now.most = Some(0.0);
            }
        }
        all
    }

    /// Users of a partition that are not at work, and how long they are away, by workload [ns].
    fn users(&self, at: usize, form: &Form) -> Vec<(f64, f64)> {
        let of = |at: usize, form: &Form| match form.demand.arrivals {
            Arrivals::Closed(count, away_ns) if form.demand.asks_devices => {
                Some(((count - self.doing[at].load.runnable).max(0.0), away_ns))
            }
            _ => None,
        };
        if form.workloads.is_empty() {
            return of(at, form).into_iter().collect();
        }
        let each = form.each_workload();
        each.filter_map(|(workload, form)| of(workload, form))
            .collect()
    }

    /// What a partition's devices ask for; nothing where they cost nothing.
    fn asks<'a>(&self, at: usize, form: &'a Form) -> Option<Asks<'a>> {
        let handling = form.handling.as_ref()?;
        let answers = self.answers_per_ns(at, form);
        let rate = answers[0] + answers[1] + handling.rate_per_ns;
        let mut waits_ns = 0.0;
        let all = || (0..self.tree.active_cores).collect::<Vec<u16>>();
        let part_of = |part: &Part| {
            let cpus = match part.cpus.is_empty() {
                true => all(),
                false => part.cpus.clone(),
            };
            let lines = |cpu: &u16| -> f64 {
                let chip: ChipId = self.tree.chip_of(CoreId::from(*cpu));
                self.device_lines_ns(handling, part, chip)
            };
            let lines_ns = cpus.iter().map(lines).sum::<f64>() / cpus.len() as f64;
            let (each, own_ns) = (rate / cpus.len() as f64, self.doing[at].ns[1]);
            let (instructions, waits) = handling.coalesced(part, each, (own_ns, lines_ns));
            waits_ns += waits;
            (cpus, instructions * own_ns + lines_ns)
        };
        let parts = handling.parts.iter().map(part_of).collect();
        Some(Asks {
            parts,
            waits_ns,
            answers,
            handling,
        })
    }
}

/// Mean share of each chip's processors that interrupts take, by the processors' numbers.
fn by_chip(tree: &Topology, taken: &[f64]) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); tree.chips().len()];
    for (cpu, of) in (0_u16..).zip(taken) {
        let (sum, count) = &mut sums[tree.chip_of(CoreId::from(cpu)).index()];
        (*sum, *count) = (*sum + of.min(NEARLY_ALL), *count + 1.0);
    }
    let mean = |(sum, count): (f64, f64)| sum / f64::max(count, 1.0);
    sums.into_iter().map(mean).collect()
}

impl Asks<'_> {
    /// Interrupts in a nanosecond.
    fn rate(&self) -> f64 {
        self.answers[0] + self.answers[1] + self.handling.rate_per_ns
    }

    /// When who waits gets an answer, and how many do at most, if so much of each processor is
    /// taken; what is queued follows from the squares of what each takes (Pollaczek, Khintchine).
    /// Where more comes from outside than a processor can do, each gets a part of what it asks for.
    fn handled(&self, taken: &Taken) -> Handled {
        let mut all = Handled {
            answer_ns: self.waits_ns,
            ..Handled::default()
        };
        let mut times = f64::INFINITY;
        for (cpus, ns) in &self.parts {
            let mut queued_ns = 0.0;
            for cpu in cpus.iter().map(|cpu| usize::from(*cpu)) {
                queued_ns += 0.5 * taken.squares[cpu] / (1.0 - taken.all[cpu].min(NEARLY_ALL));
                times = times.min(taken.could(cpu));
            }
            all.answer_ns += ns + queued_ns / cpus.len() as f64;
        }
        if self.answers[0] > 0.0 {
            all.most = Some(times * self.answers[0].max(FEWEST));
        }
        all
    }
}

impl Host {
    /// Interrupts take so much of each processor, by its number.
    fn take_from_lots(&mut self, taken: &[f64]) {
        for lot in &mut self.lots {
            let of = |cpu: &u16| taken[usize::from(*cpu)].min(NEARLY_ALL);
            lot.taken = lot.members.iter().map(of).sum();
        }
    }

    /// Share of their time that a partition's threads stand still.
    fn lost_by(&self, at: usize, form: &Form, (taken, used): (&[f64], &[f64])) -> f64 {
        let stays = matches!(form.demand.arrivals, Arrivals::Always(..));
        let mut lost = 0.0;
        for unit in self.units.iter().filter(|unit| unit.partition == at) {
            for (number, part) in &unit.lots {
                let lot = &self.lots[*number];
                let moves = stays && used[*number] <= lot.cpus - 1.0;
                let of = |cpu: &u16| match taken[usize::from(*cpu)].min(NEARLY_ALL) {
                    much if moves && much > LET_BE => 0.0,
                    other => other,
                };
                let sum: f64 = lot.members.iter().map(of).sum();
                lost += unit.share * part * sum / lot.cpus;
            }
        }
        lost.min(NEARLY_ALL)
    }
}
