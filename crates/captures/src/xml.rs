//! XML as a tree, forgiving: what a cut-off or damaged text still holds is kept.
//!
//! No document type is read, no entity but the five predefined ones and character references is
//! expanded, nothing is fetched. Depth is bounded; memory is in proportion to the text.

use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use quick_xml::Reader;
use serde::Serialize;

use crate::damage::{Damage, Lenient};
use crate::error::{quoted, CaptureError};

/// Elements deeper than this are left out.
pub(crate) const DEEPEST: usize = 100;

/// A tag with its attributes, its text and what is inside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Element {
    /// Its name as written.
    pub(crate) name: String,
    /// Attributes in their order.
    pub(crate) attributes: Vec<(String, String)>,
    /// Elements inside it.
    pub(crate) children: Vec<Element>,
    /// All text directly inside it, without the blanks around it.
    pub(crate) text: String,
    /// Line of its start tag, counted from 1.
    pub(crate) line: usize,
}

impl Element {
    /// An attribute's value.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let held = self.attributes.iter().find(|(key, _)| key == name);
        held.map(|(_, value)| value.as_str())
    }

    /// Elements of a name directly inside.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> + 'a {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The first of a name directly inside.
    pub(crate) fn first(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The element at the end of a path of names.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Element> {
        path.iter()
            .try_fold(self, |element, name| element.first(name))
    }

    /// The text of the first element of a name directly inside.
    pub(crate) fn text_of(&self, name: &str) -> Option<&str> {
        self.first(name).map(|child| child.text.as_str())
    }
}

/// Reads all of a text as trees: the root elements of the documents in it.
///
/// # Errors
/// There is no element in it.
pub fn read(text: &str) -> Result<Lenient<Vec<Element>>, CaptureError> {
    let mut damage = Damage::default();
    let roots = parse_all(text, &mut damage);
    if roots.is_empty() {
        return Err(CaptureError::Empty { tool: "any tool" });
    }
    Ok(damage.with(roots))
}

/// The root element of a text, none if there is no element at all; further documents in the same
/// text are left out.
pub(crate) fn parse(text: &str, damage: &mut Damage) -> Option<Element> {
    let mut roots = parse_all(text, damage).into_iter();
    let root = roots.next();
    for other in roots {
        damage.drop_line(other.line, || {
            format!(
                "<{}> after the end of the document is left out",
                quoted(&other.name)
            )
        });
    }
    root
}

/// The root elements of a text, in which several documents may be glued together.
pub(crate) fn parse_all(text: &str, damage: &mut Damage) -> Vec<Element> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut tree = Tree::new(text);
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    loop {
        let line = tree.line_at(reader.buffer_position());
        match reader.read_event() {
            Ok(Event::Eof) => break,
            Ok(event) => tree.take(event, line, damage),
            Err(fault) => {
                let line = tree.line_at(reader.error_position());
                damage.drop_line(line, || {
                    format!("the rest is no XML: {}", quoted(&fault.to_string()))
                });
                break;
            }
        }
    }
    tree.finish(damage)
}

/// The tree while it grows.
struct Tree<'a> {
    text: &'a str,
    /// Up to where lines are counted, and how many ends of line there are before it.
    counted: (usize, usize),
    open: Vec<Element>,
    roots: Vec<Element>,
    /// How many elements deep in a part that is left out.
    skipping: usize,
}

impl<'a> Tree<'a> {
    const fn new(text: &'a str) -> Self {
        Self {
            text,
            counted: (0, 0),
            open: Vec::new(),
            roots: Vec::new(),
            skipping: 0,
        }
    }

    /// Line of a place that is not before the one asked for last.
    fn line_at(&mut self, position: u64) -> usize {
        let end = usize::try_from(position).map_or(self.text.len(), |at| at.min(self.text.len()));
        if let Some(passed) = self.text.as_bytes().get(self.counted.0..end) {
            self.counted.1 += passed.iter().filter(|byte| **byte == b'\n').count();
            self.counted.0 = end;
        }
        self.counted.1 + 1
    }

    fn take(&mut self, event: Event<'_>, line: usize, damage: &mut Damage) {
        match event {
            Event::Start(tag) => self.start(&tag, line, damage),
            Event::Empty(tag) => {
                self.start(&tag, line, damage);
                self.end(tag.name().as_ref(), line, damage);
            }
            Event::End(tag) => self.end(tag.name().as_ref(), line, damage),
            Event::Text(words) => self.words(&String::from_utf8_lossy(&words)),
            Event::CData(words) => self.words(&String::from_utf8_lossy(&words)),
            Event::GeneralRef(name) => {
                let written = format!("&{};", String::from_utf8_lossy(&name));
                let read = plain(&written, line, damage);
                self.words(&read);
            }
            _ => {}
        }
    }

    fn words(&mut self, words: &str) {
        if self.skipping == 0 {
            if let Some(element) = self.open.last_mut() {
                element.text.push_str(words);
            }
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>, line: usize, damage: &mut Damage) {
        let name = String::from_utf8_lossy(tag.name().as_ref()).into_owned();
        if self.skipping > 0 || self.open.len() >= DEEPEST {
            if self.skipping == 0 {
                damage.drop_line(line, || {
                    format!(
                        "<{}> is deeper than {DEEPEST} elements; left out",
                        quoted(&name)
                    )
                });
            }
            self.skipping += 1;
            return;
        }
        let attributes = attributes(tag, line, damage);
        self.open.push(Element {
            name,
            attributes,
            line,
            ..Element::default()
        });
    }

    fn end(&mut self, name: &[u8], line: usize, damage: &mut Damage) {
        if self.skipping > 0 {
            self.skipping -= 1;
            return;
        }
        let open = |element: &Element| element.name.as_bytes() == name;
        match self.open.iter().rposition(open) {
            Some(place) => {
                while self.open.len() > place + 1 {
                    let name = self.close();
                    damage.remark(line, || {
                        format!("<{}> has no end; it ends here", quoted(&name))
                    });
                }
                self.close();
            }
            None => damage.drop_line(line, || {
                let name = String::from_utf8_lossy(name).into_owned();
                format!("</{}> ends nothing that is open", quoted(&name))
            }),
        }
    }

    /// Closes the innermost element and names it.
    fn close(&mut self) -> String {
        let Some(mut element) = self.open.pop() else {
            return String::new();
        };
        let name = element.name.clone();
        element.text = element.text.trim().to_owned();
        match self.open.last_mut() {
            Some(parent) => parent.children.push(element),
            None => self.roots.push(element),
        }
        name
    }

    fn finish(mut self, damage: &mut Damage) -> Vec<Element> {
        if !self.open.is_empty() {
            let line = self.line_at(u64::MAX);
            let count = self.open.len();
            damage.drop_line(line, || {
                format!("the text ends within {count} elements that are open; what it holds counts")
            });
        }
        while !self.open.is_empty() {
            self.close();
        }
        self.roots
    }
}

/// The attributes of a tag; one that cannot be read is left out.
fn attributes(tag: &BytesStart<'_>, line: usize, damage: &mut Damage) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for attribute in tag.attributes().with_checks(false) {
        match attribute {
            Ok(attribute) => {
                let key = String::from_utf8_lossy(attribute.key.as_ref()).into_owned();
                let value = String::from_utf8_lossy(&attribute.value).into_owned();
                found.push((key, plain(&value, line, damage)));
            }
            Err(fault) => damage.drop_line(line, || {
                format!("an attribute is left out: {}", quoted(&fault.to_string()))
            }),
        }
    }
    found
}

/// Text with its references replaced; as it is where one is not known.
fn plain(text: &str, line: usize, damage: &mut Damage) -> String {
    match unescape(text) {
        Ok(read) => read.into_owned(),
        Err(_) => {
            damage.remark(line, || {
                format!(
                    "{} is taken as it stands; entities are not expanded",
                    quoted(text)
                )
            });
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<Element>, u64) {
        let mut damage = Damage::default();
        let root = parse(text, &mut damage);
        (root, damage.dropped())
    }

    #[test]
    fn elements_attributes_and_text_are_kept_with_their_lines() {
        let text =
            "<?xml version=\"1.0\"?>\n<!DOCTYPE a SYSTEM \"a.dtd\">\n<a>\n <b k='1 &lt; 2'/>\n\
                    <c>x &amp; <!-- no --> y</c></a>";
        let (root, dropped) = read(text);
        let root = root.expect("a root");
        assert_eq!(dropped, 0);
        assert_eq!(root.first("b").and_then(|b| b.get("k")), Some("1 < 2"));
        assert_eq!(root.first("b").map(|b| b.line), Some(4));
        assert_eq!(root.text_of("c"), Some("x &  y"));
    }

    #[test]
    fn a_cut_text_keeps_what_it_holds() {
        let (root, dropped) = read("<a><b k='1'><c/><d k='");
        let root = root.expect("a root");
        assert!(root.at(&["b", "c"]).is_some());
        assert!(dropped > 0);
    }

    #[test]
    fn entities_are_not_expanded() {
        let text =
            "<!DOCTYPE a [<!ENTITY x \"xxxx\"><!ENTITY f SYSTEM \"file:///x\">]><a k='&x;'>&f;</a>";
        let (root, _) = read(text);
        let root = root.expect("a root");
        assert_eq!((root.get("k"), root.text.as_str()), (Some("&x;"), "&f;"));
    }

    #[test]
    fn depth_is_bounded() {
        let (root, dropped) = read(&format!(
            "{}{}",
            "<a>".repeat(100_000),
            "</a>".repeat(100_000)
        ));
        let mut depth = 0;
        let mut element = root.as_ref();
        while let Some(inner) = element {
            depth += 1;
            element = inner.children.first();
        }
        assert_eq!((depth, dropped), (DEEPEST, 1));
    }

    #[test]
    fn wrong_ends_do_no_harm() {
        let (root, dropped) = read("<a></x><b><c></b><d/></a><e/>");
        let root = root.expect("a root");
        let names: Vec<&str> = root.children.iter().map(|child| &*child.name).collect();
        assert_eq!((names, dropped), (vec!["b", "d"], 2));
    }
}
