//! What a reader of listings hands over beside the listing itself: where each fact stood and what
//! was taken for granted.

use std::collections::HashSet;

use serde::Serialize;

use crate::error::sentence;

/// A listing with its origins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reading<T> {
    /// What the text says.
    #[serde(flatten)]
    pub found: T,
    /// Lines of the facts.
    pub places: Vec<Place>,
    /// What was read with a grain of salt, in the order of the lines.
    pub remarks: Vec<Remark>,
}

/// Where a fact stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Name of the partition or cell it is about.
    pub of: String,
    /// Name of the fact.
    pub field: &'static str,
    /// Line, counted from 1.
    pub line: usize,
}

/// Something that was read although it is not as the tool writes it, or that was left out.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Remark {
    /// Line, counted from 1.
    pub line: usize,
    /// What was found and how it was understood.
    pub text: String,
}

/// Places and remarks while a text is read.
#[derive(Default)]
pub(crate) struct Notes {
    places: Vec<Place>,
    remarks: Vec<Remark>,
}

impl Notes {
    pub(crate) fn place(&mut self, of: &str, field: &'static str, line: usize) {
        let of = of.to_owned();
        self.places.push(Place { of, field, line });
    }

    pub(crate) fn remark(&mut self, line: usize, text: impl Into<String>) {
        let text = sentence(text.into());
        self.remarks.push(Remark { line, text });
    }

    pub(crate) fn with<T>(mut self, found: T) -> Reading<T> {
        self.remarks.sort_by_key(|remark| remark.line);
        let mut told = HashSet::new();
        self.remarks.retain(|remark| told.insert(remark.clone()));
        Reading {
            found,
            places: self.places,
            remarks: self.remarks,
        }
    }
}
