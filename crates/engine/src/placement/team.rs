//! Several searches beside each other that hand on the best between their phases.

use super::annealing::Search;
use super::check::check;
use super::fault::PlacementFault;
use super::known::Known;
use super::problem::Problem;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// How long the caller waits between two looks at the searches.
const LOOK: Duration = Duration::from_millis(20);

/// Where each phase ends, as a share of the whole, and where on the way from hot to cold it begins:
/// for one search after the other, in turn. In the first no move is taken that costs more. Where
/// heat matters differs: some problems are settled while it is hot, others, where all that is dear
/// can be kept, when it is nearly cold.
const PHASES: [(f64, &[f64]); 6] = [
    (0.01, &[]),
    (0.6, &[0.0]),
    (0.7, &[0.25, 0.7]),
    (0.8, &[0.4, 0.8]),
    (0.9, &[0.25, 0.7]),
    (1.0, &[0.4, 0.8]),
];

/// How long is searched, and by how many.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Which random moves are drawn.
    pub seed: u64,
    /// Searches that share the moves; with as many the same answer comes, whatever the threads.
    pub searches: usize,
    /// Threads that do them.
    pub threads: usize,
    /// Moves drawn by all searches together; without a number the watch decides, and time with it.
    pub moves: Option<u64>,
}

/// The best that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// By partition: its machine.
    pub at: Vec<u32>,
    /// The whole cost.
    pub cost: i64,
    /// Moves drawn.
    pub moves: u64,
}

/// What searches and their caller tell each other.
struct Board {
    /// Share of the time that is gone, as bits of a number; 1 and more stops all.
    gone: AtomicU64,
    best: AtomicI64,
    moves: AtomicU64,
}

impl Board {
    fn gone(&self) -> f64 {
        f64::from_bits(self.gone.load(Relaxed))
    }

    /// Asks the caller how much of the time is gone, unless he has said that all is.
    fn ask(&self, limits: &Limits, watch: &mut dyn FnMut(u64, i64) -> f64) {
        if self.gone() >= 1.0 {
            return;
        }
        let gone = watch(self.moves.load(Relaxed), self.best.load(Relaxed));
        if limits.moves.is_none() || gone >= 1.0 {
            self.gone.store(gone.to_bits(), Relaxed);
        }
    }
}

/// Looks for the assignment that costs least. `watch` is told moves drawn and the least cost so far
/// every few hundredths of a second and answers which share of the time is gone, 1 to stop.
///
/// # Errors
/// [`PlacementFault`] where the problem or its start is unsound.
pub fn place(
    problem: &Problem,
    limits: &Limits,
    watch: &mut dyn FnMut(u64, i64) -> f64,
) -> Result<Placed, PlacementFault> {
    check(problem)?;
    let start = problem.cost(&problem.start);
    let board = Board {
        gone: AtomicU64::new(0),
        best: AtomicI64::new(start),
        moves: AtomicU64::new(0),
    };
    let searches = limits.searches.max(1) as u64;
    let known = Known::new(problem);
    let mut team: Vec<Search<'_>> = (0..searches)
        .map(|number| Search::new(problem, &known, limits.seed, number))
        .collect();
    if problem.partitions() > 0 && problem.resources() > 0 {
        let mut from = 0.0;
        for (to, depths) in PHASES {
            let phase = Phase { from, to, depths };
            together(&mut team, limits, &phase, &board, watch);
            hand_on(&mut team);
            from = to;
        }
    }
    let moves = team.iter().map(Search::drawn).sum();
    let (at, cost) = team[0].best();
    let at = at.to_vec();
    Ok(Placed { at, cost, moves })
}

/// A part of a search.
struct Phase {
    from: f64,
    to: f64,
    depths: &'static [f64],
}

impl Phase {
    /// The share of this phase that is gone.
    fn share(&self, limits: &Limits, gone: f64, drawn: u64) -> f64 {
        let Some(moves) = limits.moves.filter(|_| gone < 1.0) else {
            return (gone - self.from) / (self.to - self.from);
        };
        let each = moves as f64 / limits.searches.max(1) as f64;
        (drawn as f64 / each - self.from) / (self.to - self.from)
    }

    fn search(&self, search: &mut Search<'_>, number: usize, limits: &Limits, board: &Board) {
        let mut before = search.drawn();
        let depth = self.depths.iter().copied().cycle().nth(number);
        search.anneal(depth, &mut |drawn, best| {
            board.moves.fetch_add(drawn - before, Relaxed);
            board.best.fetch_min(best, Relaxed);
            before = drawn;
            self.share(limits, board.gone(), drawn)
        });
    }
}

/// Lets every search do a phase. With a clock each has a thread of its own, for time passes for
/// all of them at once.
fn together(
    team: &mut [Search<'_>],
    limits: &Limits,
    phase: &Phase,
    board: &Board,
    watch: &mut dyn FnMut(u64, i64) -> f64,
) {
    let threads = limits.moves.map_or(team.len(), |_| limits.threads.max(1));
    let each = team.len().div_ceil(threads);
    let (done, news) = channel::<()>();
    thread::scope(|scope| {
        for (at, part) in team.chunks_mut(each).enumerate() {
            let done: Sender<()> = done.clone();
            scope.spawn(move || {
                for (number, search) in (at * each..).zip(part) {
                    phase.search(search, number, limits, board);
                }
                drop(done);
            });
        }
        drop(done);
        while news.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            board.ask(limits, watch);
        }
    });
}

/// All go on from the best; of equals it is the first search's.
fn hand_on(team: &mut [Search<'_>]) {
    let cheapest = (0..team.len()).min_by_key(|&number| team[number].best().1);
    let (at, cost) = team[cheapest.unwrap_or(0)].best();
    let at = at.to_vec();
    for search in team {
        search.go_on_from(&at, cost);
    }
}
