//! Why a layout has no solution.

use crate::check::SpecFault;

/// Why a layout has no solution.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SolveFault {
    /// The spec is unsound.
    #[error("{0}")]
    Spec(#[from] SpecFault),
    /// Something that only a simulation can tell.
    #[error("partition {partition}: {what} is simulated only; `homenode run` does it")]
    Unknown {
        /// Whose.
        partition: String,
        /// What of it only events tell, in words.
        what: String,
    },
    /// A hypervisor that only a simulation can tell.
    #[error("{0} is simulated only; `homenode run` does it")]
    Policy(&'static str),
    /// A form of a partition with another number of workloads.
    #[error("layouts: a form with {got} workloads beside each other, where there are {want}")]
    Workloads {
        /// How many it has; none where there is one alone.
        got: usize,
        /// How many the partition has.
        want: usize,
    },
    /// A choice of forms that are not there.
    #[error("layouts: {got} forms are chosen for {want} partitions, or one that was never given")]
    Shape {
        /// How many were chosen.
        got: usize,
        /// How many partitions there are.
        want: usize,
    },
}
