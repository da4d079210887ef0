//! Tables whose headings take several lines, as the Performance Toolkit prints its own reports:
//! a column is what stands under words that overlap, and a row need not have a value in each.

use crate::error::quoted;
use crate::fcx::model::Row;

/// Blanks that a value may stand beside its heading.
const ASIDE: usize = 3;

/// Where a word stands in a line, in characters.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    begin: usize,
    end: usize,
}

impl Span {
    fn shared(self, other: Self) -> usize {
        let (begin, end) = (self.begin.max(other.begin), self.end.min(other.end));
        end.saturating_sub(begin)
    }

    fn gap(self, other: Self) -> usize {
        let after = self.begin.saturating_sub(other.end);
        after.max(other.begin.saturating_sub(self.end))
    }
}

struct Word<'a> {
    span: Span,
    text: &'a str,
}

/// A column, and the name of each.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    spans: Vec<Span>,
    /// Of several lines, those with a hyphen or a plus at their end joined without a blank.
    pub names: Vec<String>,
}

impl Columns {
    /// Columns under the lines of a heading.
    pub(super) fn of(heading: &[String]) -> Self {
        let mut words = Vec::new();
        let mut groups = Vec::new();
        for line in heading {
            let (mut named, plain) = split_groups(line);
            words.extend(words_of(&plain).map(|word| (word.span, word.text.to_owned())));
            groups.append(&mut named);
        }
        let mut columns: Vec<(Span, Vec<(Span, String)>)> = Vec::new();
        for (span, text) in words {
            // Of a line above, each word that it overlaps is of one column with it.
            let mut column = (span, Vec::new());
            let mut apart = Vec::new();
            for other in columns {
                if other.0.shared(span) > 0 {
                    column.0.begin = column.0.begin.min(other.0.begin);
                    column.0.end = column.0.end.max(other.0.end);
                    column.1.extend(other.1);
                } else {
                    apart.push(other);
                }
            }
            column.1.push((span, text));
            apart.push(column);
            columns = apart;
        }
        columns.sort_by_key(|(span, _)| span.begin);
        let spans: Vec<Span> = columns.iter().map(|(span, _)| *span).collect();
        let names = columns.iter().map(|(_, words)| joined(words)).collect();
        Self {
            names: told_apart(names, &spans, &groups),
            spans,
        }
    }

    /// A row of values, each under the heading that it stands under.
    pub(super) fn row(&self, line: &str, number: usize) -> Result<Row, String> {
        let mut cells = vec![String::new(); self.names.len()];
        for word in words_of(line) {
            let text = quoted(word.text);
            let place = self.place(word.span);
            let place = place.ok_or_else(|| format!("\"{text}\" stands under no heading"))?;
            let cell = &mut cells[place];
            if !cell.is_empty() && (is_figure(cell) || is_figure(word.text)) {
                return Err(format!(
                    "two values under \"{}\"",
                    quoted(&self.names[place])
                ));
            }
            let blank = if cell.is_empty() { "" } else { " " };
            cell.push_str(blank);
            cell.push_str(word.text);
        }
        Ok(Row::of(number, cells.iter().map(String::as_str)))
    }

    /// The column of a value: that of which it shares most, of several the one that ends where it
    /// does, as figures do; else the nearest.
    fn place(&self, of: Span) -> Option<usize> {
        let all = self.spans.iter().enumerate();
        let best = all.min_by_key(|(_, span)| {
            let shared = span.shared(of);
            (usize::MAX - shared, span.gap(of), span.end.abs_diff(of.end))
        });
        best.filter(|(_, span)| span.gap(of) <= ASIDE)
            .map(|(place, _)| place)
    }
}

/// Whether a line may be a row: it has a figure, or a time of day, and is more than a ruler.
pub(super) fn has_figures(line: &str) -> bool {
    let is_time =
        |word: &str| word.contains(':') && word.bytes().all(|b| b.is_ascii_digit() || b == b':');
    line.split_whitespace().any(|word| {
        word.len() > 1 && is_figure(word) || word.parse::<u8>().is_ok() || is_time(word)
    })
}

/// Digits with at most one point, which may come first, or dots in place of a figure.
pub(super) fn is_figure(word: &str) -> bool {
    let points = word.bytes().filter(|byte| *byte == b'.').count();
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    points + digits == word.len() && (digits > 0 && points <= 1 || digits == 0)
}

fn words_of(line: &str) -> impl Iterator<Item = Word<'_>> {
    let mut at = 0;
    line.split(' ').filter_map(move |text| {
        let begin = at;
        let long = text.chars().count();
        at += long + 1;
        let span = Span {
            begin,
            end: begin + long,
        };
        (!text.trim().is_empty()).then_some(Word { span, text })
    })
}

/// What stands over several columns, such as `<--- CPU --->`, and the line without it.
fn split_groups(line: &str) -> (Vec<(Span, String)>, String) {
    let mut groups = Vec::new();
    let mut plain: Vec<char> = line.chars().collect();
    let mut from = 0;
    while let Some(begin) = (from..plain.len()).find(|at| plain[*at] == '<') {
        // One that is cut off goes to the end of the line.
        let last = (begin..plain.len()).find(|at| plain[*at] == '>');
        let last = last.unwrap_or(plain.len() - 1);
        let inside: String = plain[begin..=last].iter().collect();
        let name = inside.trim_matches(|one| matches!(one, '<' | '-' | ' ' | '>'));
        let end = last + 1;
        groups.push((Span { begin, end }, name.to_owned()));
        plain[begin..end].fill(' ');
        from = end;
    }
    (groups, plain.into_iter().collect())
}

fn joined(words: &[(Span, String)]) -> String {
    let mut name = String::new();
    for (_, word) in words {
        let close = name.is_empty() || name.ends_with(['-', '+']);
        name.push_str(if close { "" } else { " " });
        name.push_str(word);
    }
    name
}

/// Names that are the same have that of their group before them, or a number behind.
fn told_apart(names: Vec<String>, spans: &[Span], groups: &[(Span, String)]) -> Vec<String> {
    let often = |name: &String, all: &[String]| all.iter().filter(|one| *one == name).count() > 1;
    let grouped = names.iter().zip(spans).map(|(name, span)| {
        let over = groups.iter().rev().find(|group| group.0.shared(*span) > 0);
        match over {
            Some((_, group)) if often(name, &names) => format!("{group} {name}"),
            _ => name.clone(),
        }
    });
    let mut told: Vec<String> = Vec::new();
    for name in grouped {
        let mut free = name.clone();
        let mut number = 1;
        while told.contains(&free) {
            number += 1;
            free = format!("{name} {number}");
        }
        told.push(free);
    }
    told
}
