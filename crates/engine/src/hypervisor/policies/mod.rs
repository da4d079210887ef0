//! Dispatching policies, one file each, named as the literature names them.

mod phyp;

pub use phyp::Phyp;
