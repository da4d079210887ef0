//! What the sections of an AIX recording say of the same snapshot in different words must agree.
//!
//! With `den = max(PhysicalCPU, entitled)`, of a shared-processor partition:
//! - the `EC_` percentages are cores over `den`, the `VP_` ones cores over virtual processors;
//! - `usedPoolCPU%` and `usedAllCPU%` are `PhysicalCPU` over the pool's and all shared cores;
//! - `CPU_ALL` repeats `EC_User%` and `EC_Sys%` and gives all the rest to wait and idle in the
//!   proportion of `EC_Wait%` to `EC_Idle%`, so that unused entitlement is in both;
//! - `PCPUnn` of all logical processors together are `PhysicalCPU`.
//!
//! Figures are printed rounded: two sides agree if they do for some values that round to what is
//! printed.

use serde::Serialize;

use crate::nmon::number::places;

/// How far a printed figure may be from what it was rounded from, and a little for doubles.
const HALF: f64 = 0.5 + 1e-6;

/// One rule and how often it held.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Identity {
    /// The rule, in the words of the recording.
    pub rule: &'static str,
    /// Snapshots it was checked on.
    pub checked: u64,
    /// Snapshots it did not hold on.
    pub violated: u64,
    /// The greatest distance beyond what rounding explains.
    pub worst: f64,
    /// Line of the first snapshot it did not hold on; 0 if it always held.
    pub line: usize,
}

const RULES: [&str; 8] = [
    "EC_User% + EC_Sys% + EC_Wait% + EC_Idle% = 100 PhysicalCPU / max(PhysicalCPU, entitled)",
    "VP_User% + VP_Sys% + VP_Wait% + VP_Idle% = 100 PhysicalCPU / virtualCPUs",
    "usedPoolCPU% = 100 PhysicalCPU / poolCPUs",
    "usedAllCPU% = 100 PhysicalCPU / shcpus_in_sys",
    "EC_x% = 100 PCPU_ALL x / max(PhysicalCPU, entitled)",
    "CPU_ALL User%, Sys% = EC_User%, EC_Sys%; Wait% and Idle% share the rest as EC_Wait%, EC_Idle%",
    "User% + Sys% + Wait% + Idle% + Steal% of CPU_ALL = 100",
    "PCPUnn together = PhysicalCPU",
];

/// A printed figure and half of its last digit's unit.
#[derive(Clone, Copy, Debug)]
struct Amount {
    value: f64,
    slack: f64,
}

impl Amount {
    fn plus(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            slack: self.slack + other.slack,
        }
    }

    /// `100 self / other`.
    fn percent_of(self, other: Self) -> Self {
        let value = 100.0 * self.value / other.value;
        let relative = other.slack / other.value.abs();
        Self {
            value,
            slack: (100.0 * self.slack / other.value).abs() + value.abs() * relative,
        }
    }

    fn times(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            slack: self.slack * factor.abs(),
        }
    }

    fn max(self, other: Self) -> Self {
        Self {
            value: self.value.max(other.value),
            slack: self.slack.max(other.slack),
        }
    }

    /// How far the two are apart beyond rounding; 0 if they agree.
    fn beyond(self, other: Self) -> f64 {
        ((self.value - other.value).abs() - self.slack - other.slack).max(0.0)
    }
}

/// Which section a row is of, among those that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watched {
    Lpar,
    Pools,
    CpuAll,
    PcpuAll,
    Pcpu,
}

impl Watched {
    /// By the table's name.
    pub(crate) fn of(table: &str) -> Option<Self> {
        match table {
            "LPAR" => Some(Self::Lpar),
            "POOLS" => Some(Self::Pools),
            "CPU_ALL" => Some(Self::CpuAll),
            "PCPU_ALL" => Some(Self::PcpuAll),
            "PCPU" => Some(Self::Pcpu),
            _ => None,
        }
    }

    const fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Lpar => &[
                "PhysicalCPU",
                "virtualCPUs",
                "logicalCPUs",
                "poolCPUs",
                "entitled",
                "SharedCPU",
                "usedAllCPU%",
                "usedPoolCPU%",
                "EC_User%",
                "EC_Sys%",
                "EC_Wait%",
                "EC_Idle%",
                "VP_User%",
                "VP_Sys%",
                "VP_Wait%",
                "VP_Idle%",
            ],
            Self::Pools => &["shcpus_in_sys"],
            Self::CpuAll => &["User%", "Sys%", "Wait%", "Idle%", "Steal%"],
            Self::PcpuAll | Self::Pcpu => &["User", "Sys", "Wait", "Idle"],
        }
    }
}

/// The columns of interest of one section's rows.
#[derive(Debug, Default)]
struct Section {
    heading: u32,
    found: Vec<Option<usize>>,
    row: Vec<Option<Amount>>,
}

impl Section {
    fn take(&mut self, wanted: &[&str], heading: u32, columns: &[String], row: &Printed<'_>) {
        if self.heading != heading {
            self.heading = heading;
            let at = |name: &&str| columns.iter().position(|column| column == name);
            self.found = wanted.iter().map(at).collect();
        }
        self.row.clear();
        self.row.extend(self.found.iter().map(|index| {
            let index = (*index)?;
            let value = *row.values.get(index).filter(|value| value.is_finite())?;
            let digits = i32::from(row.places(index));
            // What is printed without a point is a count, and exact.
            let slack = if digits == 0 {
                0.0
            } else {
                HALF * 10f64.powi(-digits)
            };
            Some(Amount { value, slack })
        }));
    }

    fn get(&self, index: usize) -> Option<Amount> {
        self.row.get(index).copied().flatten()
    }

    fn all<const N: usize>(&self, first: usize) -> Option<[Amount; N]> {
        let mut found = [Amount {
            value: 0.0,
            slack: 0.0,
        }; N];
        for (offset, amount) in found.iter_mut().enumerate() {
            *amount = self.get(first + offset)?;
        }
        Some(found)
    }
}

/// A row as numbers and as it is printed.
pub(crate) struct Printed<'a> {
    pub values: &'a [f64],
    pub text: &'a [u8],
}

impl Printed<'_> {
    fn places(&self, index: usize) -> u8 {
        let field = self.text.split(|byte| *byte == b',').nth(index);
        field.map_or(0, places)
    }
}

/// The rules, and the snapshot that is being read.
#[derive(Debug)]
pub(crate) struct Checks {
    line: usize,
    lpar: Section,
    pools: Section,
    cpu_all: Section,
    pcpu_all: Section,
    pcpu: Section,
    physical: Option<Amount>,
    processors: u32,
    results: Vec<Identity>,
}

impl Default for Checks {
    fn default() -> Self {
        let fresh = |rule: &&'static str| Identity {
            rule,
            checked: 0,
            violated: 0,
            worst: 0.0,
            line: 0,
        };
        Self {
            line: 0,
            lpar: Section::default(),
            pools: Section::default(),
            cpu_all: Section::default(),
            pcpu_all: Section::default(),
            pcpu: Section::default(),
            physical: None,
            processors: 0,
            results: RULES.iter().map(fresh).collect(),
        }
    }
}

impl Checks {
    /// Takes a row of the snapshot.
    pub(crate) fn take(
        &mut self,
        which: Watched,
        heading: u32,
        columns: &[String],
        row: &Printed<'_>,
    ) {
        let section = match which {
            Watched::Lpar => &mut self.lpar,
            Watched::Pools => &mut self.pools,
            Watched::CpuAll => &mut self.cpu_all,
            Watched::PcpuAll => &mut self.pcpu_all,
            Watched::Pcpu => &mut self.pcpu,
        };
        section.take(which.columns(), heading, columns, row);
        if which == Watched::Pcpu {
            let sum = self
                .pcpu
                .all::<4>(0)
                .map(|[a, b, c, d]| a.plus(b).plus(c).plus(d));
            self.physical = match (self.physical, sum) {
                (Some(before), Some(sum)) => Some(before.plus(sum)),
                (None, sum) => sum,
                (before, None) => before,
            };
            self.processors += u32::from(sum.is_some());
        }
    }

    /// Ends the snapshot that began before, and begins the one of this line.
    pub(crate) fn begin(&mut self, line: usize) {
        self.check();
        for section in [
            &mut self.lpar,
            &mut self.pools,
            &mut self.cpu_all,
            &mut self.pcpu_all,
            &mut self.pcpu,
        ] {
            section.row.clear();
        }
        (self.physical, self.processors, self.line) = (None, 0, line);
    }

    /// The rules that were checked at least once.
    pub(crate) fn results(&self) -> Vec<Identity> {
        let checked = self.results.iter().filter(|rule| rule.checked > 0);
        checked.cloned().collect()
    }

    fn check(&mut self) {
        self.check_cpu_all();
        let is_shared = self.lpar.get(5).is_some_and(|it| it.value == 1.0);
        let (Some(physc), true) = (self.lpar.get(0), is_shared) else {
            return;
        };
        if let Some(virtuals) = self.lpar.get(1).filter(|it| it.value > 0.0) {
            let sum = self.lpar.all::<4>(12).map(sum_of);
            self.hold(1, sum, Some(physc.percent_of(virtuals)));
        }
        let over = |cores: Option<Amount>| cores.filter(|it| it.value > 0.0);
        let pool = over(self.lpar.get(3)).map(|pool| physc.percent_of(pool));
        self.hold(2, self.lpar.get(7), pool);
        let all = over(self.pools.get(0)).map(|all| physc.percent_of(all));
        self.hold(3, self.lpar.get(6), all);
        let logical = self.lpar.get(2).map_or(0.0, |it| it.value);
        if f64::from(self.processors) == logical {
            self.hold(7, self.physical, Some(physc));
        }
        if let Some(entitled) = self.lpar.get(4) {
            self.check_entitlement(physc, physc.max(entitled));
        }
    }

    fn check_entitlement(&mut self, physc: Amount, denominator: Amount) {
        let Some(shares) = self.lpar.all::<4>(8).filter(|_| denominator.value > 0.0) else {
            return;
        };
        let whole = physc.percent_of(denominator);
        self.hold(0, Some(sum_of(shares)), Some(whole));
        if let Some(cores) = self.pcpu_all.all::<4>(0) {
            let apart = shares.into_iter().zip(cores);
            let beyond = apart.map(|(share, cores)| share.beyond(cores.percent_of(denominator)));
            self.note(4, beyond.fold(0.0, f64::max));
        }
        let [user, sys, wait, idle] = shares;
        if let (Some(seen), true) = (self.cpu_all.all::<4>(0), wait.value + idle.value > 0.0) {
            let rest = Amount {
                value: 100.0 - user.value - sys.value,
                slack: user.slack + sys.slack,
            };
            let waiting = wait.percent_of(wait.plus(idle)).times(rest.value / 100.0);
            let beyond = [
                seen[0].beyond(user),
                seen[1].beyond(sys),
                seen[2].beyond(waiting),
            ];
            self.note(5, beyond.into_iter().fold(0.0, f64::max));
        }
    }

    fn check_cpu_all(&mut self) {
        let Some(shares) = self.cpu_all.all::<4>(0) else {
            return;
        };
        let sum = sum_of(shares);
        let sum = self.cpu_all.get(4).map_or(sum, |steal| sum.plus(steal));
        let whole = Amount {
            value: 100.0,
            slack: 0.0,
        };
        self.hold(6, Some(sum), Some(whole));
    }

    fn hold(&mut self, rule: usize, left: Option<Amount>, right: Option<Amount>) {
        if let (Some(left), Some(right)) = (left, right) {
            self.note(rule, left.beyond(right));
        }
    }

    fn note(&mut self, rule: usize, beyond: f64) {
        let result = &mut self.results[rule];
        result.checked += 1;
        if beyond > 0.0 {
            if result.violated == 0 {
                result.line = self.line;
            }
            result.violated += 1;
            result.worst = result.worst.max(beyond);
        }
    }
}

fn sum_of(amounts: [Amount; 4]) -> Amount {
    let [first, second, third, fourth] = amounts;
    first.plus(second).plus(third).plus(fourth)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(value: f64, places: i32) -> Amount {
        Amount {
            value,
            slack: HALF * 10f64.powi(-places),
        }
    }

    #[test]
    fn rounded_figures_agree_and_wrong_ones_do_not() {
        // 0.34 of 7 cores is 4.857 %; printed to a tenth it is 4.9, to a hundredth 4.86.
        let share = amount(0.34, 2).percent_of(amount(7.0, 0).times(1.0));
        assert!(share.value > 4.857 && share.value < 4.858);
        let exact = Amount {
            value: 7.0,
            slack: 0.0,
        };
        let share = amount(0.34, 2).percent_of(exact);
        assert_eq!(share.beyond(amount(4.9, 1)), 0.0);
        assert_eq!(share.beyond(amount(4.86, 2)), 0.0);
        assert!(share.beyond(amount(5.2, 1)) > 0.0);
    }
}
