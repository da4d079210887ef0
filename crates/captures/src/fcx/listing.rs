//! Tables whose headings take several lines, as the Performance Toolkit prints its own reports:
//! a column is what stands under words that overlap, and a row need not have a value in each.

use std::collections::{HashMap, HashSet};

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
    /// Also of those whose values are passed over, which stand behind the others. None where blanks
    /// were taken away: values stand in the order of the names then.
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
            let (named, plain) = split_groups(line);
            words.extend(words_of(&plain).map(|word| (word.span, word.text.to_owned())));
            groups.push(named);
        }
        let columns = overlapping(words);
        let spans: Vec<Span> = columns.iter().map(|(span, _)| *span).collect();
        let names = columns.iter().map(|(_, words)| joined(words)).collect();
        Self {
            names: told_apart(names, &spans, &groups),
            spans,
        }
    }

    /// Columns under a heading of one line, a word each, up to the last share of time, `%CPU` and
    /// its like; what stands behind it is passed over.
    pub(super) fn side_by_side(heading: &str) -> Self {
        let spans: Vec<Span> = words_of(heading).map(|word| word.span).collect();
        let names: Vec<String> = words_of(heading).map(|word| word.text.to_owned()).collect();
        let last = names.iter().rposition(|name| name.starts_with('%'));
        let mut names = told_apart(names, &spans, &[]);
        names.truncate(last.map_or(names.len(), |at| at + 1));
        // Where a mail has taken blanks away, words are all there is.
        let apart = heading.trim().contains("  ");
        let spans = if apart { spans } else { Vec::new() };
        Self { spans, names }
    }

    /// A row of words: behind the first two, figures.
    fn in_order(&self, line: &str, number: usize) -> Result<Row, String> {
        let wanted = self.names.len();
        let words: Vec<&str> = line.split_whitespace().take(wanted).collect();
        let figures = words.iter().skip(2).all(|word| is_figure(word));
        if words.len() < wanted || !figures {
            return Err(format!("no {wanted} values"));
        }
        Ok(Row::of(number, words))
    }

    /// A row of values, each under the heading that it stands under.
    pub(super) fn row(&self, line: &str, number: usize) -> Result<Row, String> {
        if self.spans.is_empty() {
            return self.in_order(line, number);
        }
        let mut cells = vec![String::new(); self.names.len()];
        for word in words_of(line) {
            let text = quoted(word.text);
            let place = self.place(word.span);
            if self.is_behind(place, word.span) {
                break;
            }
            let place = place.ok_or_else(|| format!("\"{text}\" stands under no heading"))?;
            let cell = &mut cells[place];
            // A place such as `1: 1 2: 3` are several words.
            let goes_on = cell.ends_with(':') || word.text.ends_with(':');
            if !cell.is_empty() && !goes_on && (is_figure(cell) || is_figure(word.text)) {
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

    /// Whether a value is behind the columns that are taken, under one of those that are not or
    /// beside them.
    fn is_behind(&self, place: Option<usize>, of: Span) -> bool {
        let taken = self.names.len();
        let (last, more) = (self.spans[..taken].last(), self.spans.len() > taken);
        more && place.map_or(last.is_some_and(|last| last.end < of.begin), |at| {
            at >= taken
        })
    }

    /// The column of a value: that of which it shares most, of several the one that ends where it
    /// does, as figures do; else the nearest.
    fn place(&self, of: Span) -> Option<usize> {
        // Columns stand in order and apart: it shares with some in a row, or none are nearer than
        // those beside it.
        let first = self.spans.partition_point(|span| span.end <= of.begin);
        let last = self.spans.partition_point(|span| span.begin < of.end);
        let beside = first.saturating_sub(1)..self.spans.len().min(last + 1);
        let best = beside.min_by_key(|&place| {
            let span = self.spans[place];
            let shared = span.shared(of);
            (usize::MAX - shared, span.gap(of), span.end.abs_diff(of.end))
        });
        best.filter(|&place| self.spans[place].gap(of) <= ASIDE)
    }
}

/// Words that overlap, whatever lines they are of, in the order of the lines; from the left.
fn overlapping(words: Vec<(Span, String)>) -> Vec<(Span, Vec<String>)> {
    let mut words: Vec<_> = words.into_iter().enumerate().collect();
    words.sort_by_key(|(_, (span, _))| span.begin);
    let mut columns: Vec<(Span, Vec<(usize, String)>)> = Vec::new();
    for (order, (span, text)) in words {
        match columns.last_mut() {
            Some((column, held)) if column.shared(span) > 0 => {
                column.end = column.end.max(span.end);
                held.push((order, text));
            }
            _ => columns.push((span, vec![(order, text)])),
        }
    }
    let in_order = |(span, mut held): (Span, Vec<(usize, String)>)| {
        held.sort_by_key(|(order, _)| *order);
        (span, held.into_iter().map(|(_, text)| text).collect())
    };
    columns.into_iter().map(in_order).collect()
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

fn joined(words: &[String]) -> String {
    let mut name = String::new();
    for word in words {
        let close = name.is_empty() || name.ends_with(['-', '+']);
        name.push_str(if close { "" } else { " " });
        name.push_str(word);
    }
    name
}

/// Names that are the same have that of their group before them, or a number behind. The groups
/// are those of each line of the heading.
fn told_apart(names: Vec<String>, spans: &[Span], groups: &[Vec<(Span, String)>]) -> Vec<String> {
    let mut often: HashMap<&str, usize> = HashMap::new();
    for name in &names {
        *often.entry(name).or_default() += 1;
    }
    let over = |span: Span| {
        groups.iter().rev().find_map(|line| {
            let last = line.partition_point(|(group, _)| group.begin < span.end);
            let nearest = line[..last].last();
            nearest.filter(|(group, _)| group.shared(span) > 0)
        })
    };
    let grouped = names
        .iter()
        .zip(spans)
        .map(|(name, span)| match over(*span) {
            Some((_, group)) if often[name.as_str()] > 1 => format!("{group} {name}"),
            _ => name.clone(),
        });
    let mut taken = HashSet::new();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let numbered = grouped.map(|name| {
        let mut free = name.clone();
        let number = numbers.entry(name.clone()).or_insert(1);
        while !taken.insert(free.clone()) {
            *number += 1;
            free = format!("{name} {number}");
        }
        free
    });
    numbered.collect()
}
