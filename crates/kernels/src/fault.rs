//! What may go wrong while a kernel runs.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// A fault while a kernel runs, before its name is put beside it.
#[derive(Debug)]
pub(crate) enum Fault {
    Wrong(String),
    Host(&'static str, std::io::Error),
}

/// What a kernel found, or its fault.
pub(crate) type Outcome = Result<Value, Fault>;

/// Says what was being done when the host refused.
pub(crate) trait Doing<T> {
    fn doing(self, doing: &'static str) -> Result<T, Fault>;
}

impl<T, E: Into<std::io::Error>> Doing<T> for Result<T, E> {
    fn doing(self, doing: &'static str) -> Result<T, Fault> {
        self.map_err(|fault| Fault::Host(doing, fault.into()))
    }
}

/// What a kernel takes, out of JSON.
pub(crate) fn parameters<T: DeserializeOwned>(json: &str) -> Result<T, Fault> {
    serde_json::from_str(json).map_err(|fault| Fault::Wrong(fault.to_string()))
}
