//! What a text of `lscpu` held, for those that make a tree of it.

use super::fields::Fields;
use super::table::Table;

/// Everything that was found in a text, whatever its form.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) fields: Fields,
    pub(super) table: Option<Table>,
}
