//! What a solved layout is told as.

use crate::cost::{Book, Books, Lines};
use crate::guest::zvm::segment::{Owner, EXTRA_BOOKS, OWNERS};
use crate::steady::cp::figures::Cp;
use crate::steady::layout::form::Form;
use crate::steady::layout::state::{classes, Doing};
use crate::steady::queues::passage::{Passage, PERCENTILES};

/// What a layout comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Solved {
    /// By partition, in the spec's order.
    pub partitions: Vec<SolvedPartition>,
    /// Iterations that it took.
    pub steps: usize,
}

/// What a partition comes to, means over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolvedPartition {
    /// Physical cores used.
    pub cores: f64,
    /// Those of the least and of the greatest balance, where these are apart: which comes about
    /// hangs on what was before, and `cores` and all else are of one of them.
    pub balances: Option<[f64; 2]>,
    /// Transactions in a second.
    pub throughput: f64,
    /// Mean response of a transaction [ns]; none without transactions.
    pub response_ns: Option<f64>,
    /// The times that half, 95 and 99 of 100 transactions stay under [ns], where they are known.
    pub percentiles_ns: Option<[f64; 3]>,
    /// Whether there is a steady state.
    pub steady: bool,
    /// Virtual processors with work.
    pub busy_vps: f64,
    /// Busy hardware threads of the cores used.
    pub busy_threads: f64,
    /// Transactions inside.
    pub inside: f64,
    /// Dispatches in a second.
    pub dispatches: f64,
    /// Share of its core time on its home chips, elsewhere on their nodes, and on others.
    pub by_distance: [f64; 3],
    /// Instructions in a second.
    pub instructions: f64,
    /// Cores by cause; they add up to `cores`.
    pub books: Books,
    /// Lines brought into the first cache level in a second, by source.
    pub lines: Lines,
    /// Share of the time with work in which its virtual processors wait for a core.
    pub waiting: f64,
    /// What z/VM tells of it, where it runs.
    pub zvm: Option<SolvedZvm>,
    /// Of several workloads, what each comes to; none where there is one.
    pub workloads: Vec<SolvedPartition>,
}

/// What z/VM tells of a partition, means over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolvedZvm {
    /// Cores by owner: guest, chargeable, system.
    pub owners: [f64; OWNERS],
    /// Logical cores not parked.
    pub unparked: f64,
    /// Instructions executed while spinning in a second.
    pub spun: f64,
}

/// What a partition comes to where many layouts are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compared {
    /// Physical cores used.
    pub cores: f64,
    /// Transactions in a second.
    pub throughput: f64,
    /// Mean response of a transaction [ns]; not a number without transactions.
    pub response_ns: f64,
    /// Whether there is a steady state.
    pub steady: bool,
    /// Virtual processors with work.
    pub busy_vps: f64,
    /// Share of core time elsewhere on the homes' nodes.
    pub near: f64,
    /// The same on other nodes.
    pub far: f64,
    passage: Option<Passage>,
}

/// Share of their time that threads wait for a processor, the host's or the guest's, from which on
/// a lock's holder is away for so long that the others come to it meanwhile, and lines of halted
/// waiters begin. Assumed, 1 to 5 %: up to it solved and simulated throughput are within 5 %.
const AWAY: f64 = 0.02;

/// The same of a lock that is handed on in order to those that spin: while one is off that has it,
/// or is next, all others stand still, so that little is much. Assumed, 0.1 to 0.5 %.
const ORDERED_AWAY: f64 = 0.002;

/// What of its lock only a simulation tells, as who holds it, or waits, may have no processor.
pub(in crate::steady) fn loses_holders(doing: &Doing, form: &Form) -> Option<&'static str> {
    let load = &doing.load;
    let on_host = doing.served < 1.0 - AWAY;
    let in_guest = load.waiting > AWAY * load.runnable;
    if form.lock.is_some() && (on_host || in_guest) {
        return Some("a lock for which threads sleep whose holders wait for a processor");
    }
    if form.held_in_order && !doing.one_of_two && doing.kept_off() > ORDERED_AWAY {
        return Some(
            "a lock that is spun for and handed on in order, of a partition that others keep from \
             its cores",
        );
    }
    let lines = form.lines_last && on_host;
    lines.then_some("a lock that is spun for, often held, of a guest that waits for processors")
}

/// Mean response of a transaction [ns].
fn response_ns(doing: &Doing, form: &Form) -> Option<f64> {
    if form.guests.is_some() || !form.workloads.is_empty() {
        return doing.response_ns;
    }
    let (load, demand) = (&doing.load, &form.demand);
    let told = load.bursts_per_ns > 0.0 && !demand.recorded && !load.overrun;
    let told = told && form.serves.is_none() && loses_holders(doing, form).is_none();
    let told = told && !doing.waits_unknown;
    let answers_ns = doing.handled.of_transaction_ns(&form.demand);
    told.then(|| load.runnable / load.bursts_per_ns * demand.bursts + demand.wait_ns + answers_ns)
}

impl Compared {
    pub(in crate::steady) fn of(doing: &Doing, form: &Form) -> Self {
        Self {
            cores: doing.cores(),
            throughput: throughput(doing, form),
            response_ns: response_ns(doing, form).unwrap_or(f64::NAN),
            steady: !doing.load.overrun && loses_holders(doing, form).is_none(),
            busy_vps: doing.load.vps,
            near: doing.away[0] + doing.roved,
            far: doing.away[1],
            passage: passage(doing, form),
        }
    }

    /// The time that 95 of 100 transactions stay under [ns], where it is known; it takes as long as
    /// a good part of all else.
    pub fn p95_ns(&self) -> Option<f64> {
        self.passage.map(|of| of.percentile_ns(0.95))
    }
}

/// The phases of its transactions, where they are known.
fn passage(doing: &Doing, form: &Form) -> Option<Passage> {
    let late_ns = doing.handled.of_transaction_ns(&form.demand) / form.demand.bursts;
    let told = Passage::of(&doing.load, &form.demand).filter(|_| !doing.waits_unknown);
    told.map(|of| of.later(late_ns))
}

/// Transactions in a second.
fn throughput(doing: &Doing, form: &Form) -> f64 {
    if form.serves.is_some() {
        0.0 // What its threads do are no transactions.
    } else if form.workloads.is_empty() {
        doing.load.bursts_per_ns / form.demand.bursts * 1e9
    } else {
        doing.done_per_ns * 1e9
    }
}

/// Share of the time with work that is as good as none.
const NEVER: f64 = 1e-3;

/// What a partition comes to; `all` do what is done.
pub(in crate::steady) fn answer(
    doing: &Doing,
    cp: &Cp,
    (form, all): (&Form, &[Doing]),
) -> SolvedPartition {
    let load = &doing.load;
    let mut answer = SolvedPartition {
        cores: doing.cores(),
        throughput: throughput(doing, form),
        response_ns: response_ns(doing, form),
        percentiles_ns: passage(doing, form)
            // Who stops at a cap waits in another way than for a processor.
            .filter(|_| load.stopped < NEVER)
            .map(|of| PERCENTILES.map(|share| of.percentile_ns(share))),
        steady: !load.overrun,
        busy_vps: load.vps,
        inside: load.runnable,
        dispatches: doing.dispatches * 1e9,
        by_distance: [
            1.0 - doing.away[0] - doing.away[1] - doing.roved,
            doing.away[0] + doing.roved,
            doing.away[1],
        ],
        waiting: 1.0 - doing.served,
        busy_threads: doing.beside - doing.polls, // What polls executes nothing.
        ..SolvedPartition::default()
    };
    for (workload, of) in form.each_workload() {
        let own = self::answer(&all[workload], cp, (of, all));
        answer.busy_threads += own.busy_threads;
        answer.instructions += own.instructions;
        answer.books.add_scaled(&own.books, 1.0);
        answer.lines.add_scaled(&own.lines, 1.0);
        answer.workloads.push(own);
    }
    if form.workloads.is_empty() {
        add_work(&mut answer, doing, form);
    }
    if form.guests.is_some() {
        answer.zvm = Some(of_zvm(&mut answer, doing, cp));
    }
    answer.instructions += doing.handled.on_siblings * 1e9;
    answer.books.add(Book::GuestIdle, doing.polls);
    add_daemons(&mut answer, doing, form);
    answer
}

/// What the work does and takes at each site, by how many threads of a core are busy.
fn add_work(answer: &mut SolvedPartition, doing: &Doing, form: &Form) {
    let load = &doing.load;
    for site in &doing.sites {
        for busy in 1..form.fixed.len() {
            let vps = site.share * doing.served * load.with[busy];
            if vps <= 0.0 {
                continue;
            }
            answer.busy_threads += vps * busy as f64;
            let class = &classes(&doing.sites, site)[busy];
            let work_ns = doing.burst * class.ns;
            let all_ns = work_ns + doing.reload_ns + doing.extra.ns;
            let held_up = vps * doing.stalled;
            let spun = (vps - held_up) * load.spun;
            let vps = vps - held_up - spun;
            let instructions = vps * busy as f64 * work_ns / all_ns / class.ns;
            answer.instructions += instructions * 1e9;
            answer.lines.add_scaled(&class.lines, instructions * 1e9);
            let books = &mut answer.books;
            books.add(Book::Hypervisor, held_up);
            books.add(Book::Spin, spun);
            books.add_scaled(&class.books, vps * work_ns / all_ns / class.books.total());
            books.add(Book::Reload, vps * doing.reload_ns / all_ns);
            for (book, ns) in EXTRA_BOOKS.into_iter().zip(doing.extra.books) {
                books.add(book, vps * ns / all_ns);
            }
        }
    }
}

/// What daemons and interrupts do beside the work, at what an instruction costs them; the rest of
/// what is beside the work is what waking them takes.
fn add_daemons(answer: &mut SolvedPartition, doing: &Doing, form: &Form) {
    let beside = doing.beside - doing.polls;
    let cores = (form.demand.daemons() * doing.ns[1] + doing.handled.beside).min(beside);
    let alone = doing.sites.iter().filter(|_| form.workloads.is_empty());
    let mut told = 0.0;
    for (site, class) in alone.map(|site| (site, &classes(&doing.sites, site)[1])) {
        let cores = cores * site.share;
        if class.ns > 0.0 && cores > 0.0 {
            let instructions = cores / class.ns * 1e9;
            answer.instructions += instructions;
            answer.lines.add_scaled(&class.lines, instructions);
            answer
                .books
                .add_scaled(&class.books, cores / class.books.total());
            told += cores;
        }
    }
    answer.books.add(Book::Hypervisor, beside - cores);
    answer.books.add(Book::Useful, cores - told);
}

/// What z/VM tells of a partition: its owners share its cores as they do what is executed.
fn of_zvm(answer: &mut SolvedPartition, doing: &Doing, cp: &Cp) -> SolvedZvm {
    let spun = if doing.burst > 0.0 {
        answer.instructions / doing.burst * doing.extra.spin_instructions
    } else {
        0.0
    };
    answer.instructions += spun;
    let mut owners = cp
        .owners
        .map(|share| share * answer.cores * (1.0 - doing.stalled));
    owners[Owner::System as usize] += answer.cores * doing.stalled;
    SolvedZvm {
        owners,
        unparked: cp.unparked,
        spun,
    }
}
