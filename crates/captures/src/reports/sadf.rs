//! What `sadf -d` and `sadf -p` print of a recording of sysstat's, as the lines sar would print:
//! the figures are the same, only how they stand beside each other differs.

use crate::stamp;

const HEADING: &str = "# hostname;interval;timestamp;";
/// Behind the headings of `-h`, where the figures of all items stand in one row.
const REPEATED: &str = "[...]";

/// Lines of sadf so far.
#[derive(Default)]
pub(super) struct Sadf {
    host: String,
    /// Headings of `-d`; none before the first.
    columns: Vec<String>,
    /// Whether sar's line of headings has still to come.
    pending: bool,
    /// Figures of `-p` that belong to one row.
    group: Option<Group>,
}

struct Group {
    host: String,
    when: String,
    of: String,
    names: Vec<String>,
    values: Vec<String>,
}

impl Sadf {
    /// The lines of sar's for a line; none if it is not of sadf.
    pub(super) fn lines(&mut self, text: &str) -> Option<Vec<String>> {
        let text = text.trim_end();
        if let Some(names) = text.strip_prefix(HEADING) {
            self.columns = names.split(';').map(str::to_owned).collect();
            self.pending = true;
            return Some(Vec::new());
        }
        if !self.columns.is_empty() && text.contains(';') {
            return self.row(text);
        }
        self.figure(text)
    }

    /// What is not complete before the end of the text.
    pub(super) fn rest(&mut self) -> Vec<String> {
        self.group
            .take()
            .map_or_else(Vec::new, |group| self.of_group(&group))
    }

    /// A row of `-d`.
    fn row(&mut self, text: &str) -> Option<Vec<String>> {
        let fields: Vec<&str> = text.split(';').collect();
        let [host, _, when, figures @ ..] = &fields[..] else {
            return None;
        };
        let when = moment(when)?;
        let mut out = self.banner(host, &when, figures.first());
        let said = figures.first().copied().unwrap_or_default();
        if said.starts_with("LINUX-RESTART") {
            out.push(format!("{when} LINUX RESTART"));
            return Some(out);
        }
        if said.starts_with("COM") {
            return Some(out);
        }
        if std::mem::take(&mut self.pending) {
            let names = self.columns.join(" ");
            out.extend([String::new(), names.replace(REPEATED, "")]);
        }
        let repeated = self
            .columns
            .last()
            .is_some_and(|name| name.ends_with(REPEATED));
        let width = if repeated {
            self.columns.len()
        } else {
            figures.len()
        };
        let of_processors = self.columns.first().is_some_and(|name| name == "CPU");
        for row in figures.chunks(width.max(1)) {
            let mut words = row.to_vec();
            if of_processors && words.first() == Some(&"-1") {
                words[0] = "all";
            }
            out.push(format!("{when} {}", words.join(" ")));
        }
        Some(out)
    }

    /// A line of `-p`: a figure with its name.
    fn figure(&mut self, text: &str) -> Option<Vec<String>> {
        let fields: Vec<&str> = text.split('\t').collect();
        let [host, _, when, of, name, value] = fields[..] else {
            return None;
        };
        let when = moment(when)?;
        let goes_on = self.group.as_ref().is_some_and(|group| {
            group.host == host
                && group.when == when
                && group.of == of
                && !group.names.iter().any(|known| known == name)
        });
        let before = if goes_on { Vec::new() } else { self.rest() };
        let group = self.group.get_or_insert_with(|| Group {
            host: host.to_owned(),
            when,
            of: of.to_owned(),
            names: Vec::new(),
            values: Vec::new(),
        });
        group.names.push(name.to_owned());
        group.values.push(value.to_owned());
        Some(before)
    }

    fn of_group(&mut self, group: &Group) -> Vec<String> {
        let mut out = self.banner(&group.host, &group.when, None);
        let processor = group.of.strip_prefix("cpu").unwrap_or(&group.of);
        let is_processor = group.of == "all" || processor != group.of;
        let kind = if is_processor { "CPU " } else { "" };
        let names = format!("{kind}{}", group.names.join(" "));
        if self.columns != [names.clone()] {
            out.extend([String::new(), names.clone()]);
            self.columns = vec![names];
        }
        let first = if is_processor {
            format!("{processor} ")
        } else {
            String::new()
        };
        out.push(format!("{} {first}{}", group.when, group.values.join(" ")));
        out
    }

    /// The first line of sar's where another host begins, or where the processors are counted.
    fn banner(&mut self, host: &str, when: &str, said: Option<&&str>) -> Vec<String> {
        let count = said.and_then(|said| said.split_once('(')?.1.split_once(" CPU)"));
        if self.host == host && count.is_none() {
            return Vec::new();
        }
        host.clone_into(&mut self.host);
        self.pending = true;
        let day = when.split(' ').next().unwrap_or_default();
        let processors = count.map_or_else(String::new, |(count, _)| format!(" ({count} CPU)"));
        vec![format!("Linux - ({host}) {day}{processors}")]
    }
}

/// Date and time without the zone.
fn moment(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    let (day, time) = (words.next()?, words.next()?);
    (stamp::date(day).is_some() && stamp::time(time).is_some()).then(|| format!("{day} {time}"))
}
