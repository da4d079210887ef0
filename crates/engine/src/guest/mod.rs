//! Guest operating systems: run queues, filling of SMT threads, folding and the charging of
//! processor time.

pub mod aix;
pub mod workload;
