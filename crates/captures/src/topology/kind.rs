//! What objects of a topology are.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What of the memory traffic a cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Share {
    /// Both.
    Unified,
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
}

/// What an object is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Kind {
    /// The whole host.
    #[default]
    Machine,
    /// Anything between; its subtype says what, or it is near the same memory.
    Group,
    /// A socket.
    Package,
    /// A part of a package.
    Die,
    /// A cache of a level from 1 on.
    Cache(u8, Share),
    /// What executes; its hardware threads are below it.
    Core,
    /// A hardware thread, the operating system's processor.
    Pu,
    /// Memory with all processors that are near it.
    NumaNode,
    /// A cache before memory.
    MemCache,
}

impl Kind {
    /// The kind of a name as hwloc writes it: `L3Cache`, `L1iCache`, `Package`, also `Socket`,
    /// `Node` of older listings. A cache without a letter is unified.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "Machine" | "System" => Self::Machine,
            "Group" | "Misc-Group" => Self::Group,
            "Package" | "Socket" => Self::Package,
            "Die" => Self::Die,
            "Core" => Self::Core,
            "PU" => Self::Pu,
            "NUMANode" | "Node" => Self::NumaNode,
            "MemCache" => Self::MemCache,
            _ => Self::cache_named(name)?,
        })
    }

    fn cache_named(name: &str) -> Option<Self> {
        let rest = name.strip_prefix('L')?;
        let rest = rest.strip_suffix("Cache").unwrap_or(rest);
        let level = rest.chars().next()?.to_digit(10)?;
        let share = match rest.get(1..)? {
            "" => Share::Unified,
            "d" => Share::Data,
            "i" => Share::Instruction,
            _ => return None,
        };
        let level = u8::try_from(level).ok()?;
        (1..=5)
            .contains(&level)
            .then_some(Self::Cache(level, share))
    }

    /// The short name: `L1d`, `Package`.
    #[must_use]
    pub fn name(self) -> String {
        let text = match self {
            Self::Machine => "Machine",
            Self::Group => "Group",
            Self::Package => "Package",
            Self::Die => "Die",
            Self::Cache(level, share) => {
                let letter = match share {
                    Share::Unified => "",
                    Share::Data => "d",
                    Share::Instruction => "i",
                };
                return format!("L{level}{letter}");
            }
            Self::Core => "Core",
            Self::Pu => "PU",
            Self::NumaNode => "NUMANode",
            Self::MemCache => "MemCache",
        };
        text.to_owned()
    }

    /// Whether it is memory, which hangs beside the tree of processors.
    #[must_use]
    pub const fn is_memory(self) -> bool {
        matches!(self, Self::NumaNode | Self::MemCache)
    }

    /// Its place from the outside in where several have the same processors.
    pub(crate) const fn rank(self) -> u8 {
        match self {
            Self::Machine => 0,
            Self::Group => 1,
            Self::Package => 2,
            Self::Die => 3,
            Self::Cache(level, Share::Instruction) => 15 - 2 * level,
            Self::Cache(level, _) => 14 - 2 * level,
            Self::Core => 14,
            Self::Pu => 15,
            Self::NumaNode | Self::MemCache => 16,
        }
    }

    /// hwloc's number of the type, as of version 3.
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::Machine => 0,
            Self::Package => 1,
            Self::Die => 2,
            Self::Core => 3,
            Self::Pu => 4,
            Self::Cache(level, Share::Instruction) => 9 + level,
            Self::Cache(level, _) => 4 + level,
            Self::Group => 13,
            Self::NumaNode => 14,
            Self::MemCache => 15,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ending = match self {
            Self::Cache(..) => "Cache",
            _ => "",
        };
        write!(f, "{}{ending}", self.name())
    }
}

impl From<Kind> for String {
    fn from(kind: Kind) -> Self {
        kind.name()
    }
}

impl TryFrom<String> for Kind {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::named(&name).ok_or_else(|| format!("{name:?} is no kind of object"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in [
            "Machine", "Group", "Package", "Die", "L5", "L3", "L2", "L1d", "L1i", "Core", "PU",
            "NUMANode", "MemCache",
        ] {
            assert_eq!(Kind::named(name).map(Kind::name).as_deref(), Some(name));
        }
        assert_eq!(Kind::named("L1iCache"), Kind::named("L1i"));
        assert_eq!(Kind::named("Socket"), Some(Kind::Package));
        for name in ["", "L", "L6", "L0", "L1x", "PCIDev", "Lé"] {
            assert_eq!(Kind::named(name), None, "{name}");
        }
    }

    #[test]
    fn the_rank_goes_from_the_outside_in() {
        let order = [
            "Machine", "Group", "Package", "Die", "L5", "L3", "L2", "L1d", "L1i", "Core",
        ];
        let ranks: Vec<u8> = order
            .iter()
            .filter_map(|n| Kind::named(n))
            .map(Kind::rank)
            .collect();
        assert!(ranks.windows(2).all(|pair| pair[0] < pair[1]), "{ranks:?}");
    }
}
