//! Why partitions cannot be placed.

/// Why partitions cannot be placed. Machines, partitions, services and resources count from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlacementFault {
    /// A list of the wrong length.
    #[error("placement: {what} has {got} values, {want} are needed")]
    Length {
        /// Which list.
        what: &'static str,
        /// Its length.
        got: usize,
        /// What it must be.
        want: usize,
    },
    /// A number that is none of those there are.
    #[error("placement: {what}, row {row}, names {got}; there are {count}, counted from 0")]
    Unknown {
        /// Which list.
        what: &'static str,
        /// Where in it.
        row: usize,
        /// What it names.
        got: usize,
        /// How many there are.
        count: usize,
    },
    /// A figure below 0.
    #[error("placement: {what}, value {at}, is {got}; it must be 0 or more")]
    Negative {
        /// Which list.
        what: &'static str,
        /// Where in it.
        at: usize,
        /// Its value.
        got: i64,
    },
    /// Costs that 64 bits do not hold.
    #[error("placement: costs could exceed 2^62; use greater units or smaller weights")]
    Overflow,
    /// At the start more is used than there is.
    #[error(
        "placement: at the start machine {machine} has {capacity} of resource {resource}, \
         its partitions take {used}"
    )]
    Capacity {
        /// Machine that is too full.
        machine: usize,
        /// Of which resource.
        resource: usize,
        /// What there is.
        capacity: i64,
        /// What is taken.
        used: i64,
    },
    /// At the start two partitions of a service are on one machine.
    #[error("placement: at the start machine {machine} has more than one partition of service {service}")]
    Together {
        /// Machine that has both.
        machine: usize,
        /// Their service.
        service: usize,
    },
    /// At the start a service is in too few locations.
    #[error("placement: at the start service {service} is in {got} locations, it asks for {want}")]
    Spread {
        /// Which service.
        service: usize,
        /// How many it is in.
        got: usize,
        /// How many it asks for.
        want: usize,
    },
    /// At the start a partition lacks another service beside it.
    #[error(
        "placement: at the start service {service} is in neighbourhood {neighbourhood} \
         without service {needs}, on which it depends"
    )]
    Alone {
        /// Which service.
        service: usize,
        /// Where.
        neighbourhood: usize,
        /// Which service it lacks.
        needs: usize,
    },
}
