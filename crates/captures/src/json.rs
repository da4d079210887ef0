//! A capture as JSON, for those who are not Rust.
//!
//! Numbers keep all their digits; a measure is `{"value": 43008, "unit": "MB"}`, a dash is `null`.

use std::fmt::Write;

use crate::capture::{Capture, Section, Table, Value};

impl Capture {
    /// `{"report": name, "sections": [{"configuration": {key: value}, "tables": [table]}]}`, with
    /// `{"columns": [name], "rows": [[value]]}` for a table.
    #[must_use]
    pub fn to_json(&self) -> String {
        let sections = list(&self.sections, section);
        format!(
            "{{\"report\":{},\"sections\":{sections}}}",
            string(self.report.name())
        )
    }
}

fn section(section: &Section) -> String {
    let pairs: Vec<String> = section
        .configuration
        .iter()
        .map(|(key, held)| format!("{}:{}", string(key), value(held)))
        .collect();
    format!(
        "{{\"configuration\":{{{}}},\"tables\":{}}}",
        pairs.join(","),
        list(&section.tables, table)
    )
}

fn table(table: &Table) -> String {
    let columns = list(&table.columns, |name| string(name));
    let rows = list(&table.rows, |row| list(row, value));
    format!("{{\"columns\":{columns},\"rows\":{rows}}}")
}

fn value(held: &Value) -> String {
    match held {
        Value::Missing => "null".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Measure(number, unit) => {
            format!("{{\"value\":{number},\"unit\":{}}}", string(unit.text()))
        }
        Value::Text(text) => string(text),
    }
}

fn list<T>(items: &[T], each: impl Fn(&T) -> String) -> String {
    format!("[{}]", items.iter().map(each).collect::<Vec<_>>().join(","))
}

fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if u32::from(c) < 0x20 => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::Report;
    use crate::number::{Number, Unit};

    #[test]
    fn a_capture_is_one_object() {
        let percent = Value::Measure(
            Number {
                scaled: 1857,
                places: 2,
            },
            Unit::Percent,
        );
        let row = vec![Value::Text("a\"b\\c\u{1}é".into()), percent, Value::Missing];
        let table = Table {
            columns: vec!["name".into(), "x".into(), "y".into()],
            rows: vec![row],
        };
        let configuration = vec![(
            "ent".to_owned(),
            Value::Number(Number {
                scaled: 130,
                places: 2,
            }),
        )];
        let sections = vec![Section {
            configuration,
            tables: vec![table],
        }];
        let capture = Capture {
            report: Report::LparstatInformation,
            sections,
        };
        let expected = [
            r#"{"report":"lparstat -i","sections":[{"configuration":{"ent":1.30},"#,
            r#""tables":[{"columns":["name","x","y"],"#,
            r#""rows":[["a\"b\\c\u0001é",{"value":18.57,"unit":"%"},null]]}]}]}"#,
        ]
        .concat();
        assert_eq!(capture.to_json(), expected);
    }
}
