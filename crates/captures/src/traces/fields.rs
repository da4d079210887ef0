//! Fields of a row of delimited text.

/// Fields of a row beyond which none is looked for.
const MOST: usize = 4096;

/// Where the fields of a row stand in it, without blanks and quotes around them.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    spans: Vec<(usize, usize)>,
}

impl Fields {
    /// Finds the fields of a row; false if a quote is left open.
    pub(crate) fn split(&mut self, row: &[u8], delimiter: u8) -> bool {
        self.spans.clear();
        let mut at = 0;
        while self.spans.len() < MOST {
            let Some((span, next)) = field(row, at, delimiter) else {
                return false;
            };
            self.spans.push(span);
            match next {
                Some(next) => at = next,
                None => break,
            }
        }
        true
    }

    /// How many there are; an empty one behind the last delimiter does not count.
    pub(crate) fn count(&self) -> usize {
        match self.spans.as_slice() {
            [.., _, (from, to)] if from == to => self.spans.len() - 1,
            _ => self.spans.len(),
        }
    }

    /// Whether they are as many as there are columns; a delimiter may follow the last.
    pub(crate) fn fit(&self, columns: usize) -> bool {
        self.spans.len() == columns || self.count() == columns
    }

    /// A field of the row that was split.
    pub(crate) fn get<'a>(&self, row: &'a [u8], index: usize) -> Option<&'a [u8]> {
        self.spans.get(index).map(|(from, to)| &row[*from..*to])
    }
}

type Span = (usize, usize);

/// The field that begins here, and where the next one begins.
fn field(row: &[u8], from: usize, delimiter: u8) -> Option<(Span, Option<usize>)> {
    let mut start = from;
    while row
        .get(start)
        .is_some_and(|byte| blank(*byte) && *byte != delimiter)
    {
        start += 1;
    }
    if row.get(start) == Some(&b'"') {
        return quoted(row, start + 1, delimiter);
    }
    let end = row[start..].iter().position(|byte| *byte == delimiter);
    let stop = end.map_or(row.len(), |end| start + end);
    let mut last = stop;
    while last > start && blank(row[last - 1]) {
        last -= 1;
    }
    Some(((start, last), end.map(|_| stop + 1)))
}

/// A field in quotes. A doubled quote within stays doubled: it only matters in names.
fn quoted(row: &[u8], start: usize, delimiter: u8) -> Option<(Span, Option<usize>)> {
    let mut at = start;
    loop {
        at += row.get(at..)?.iter().position(|byte| *byte == b'"')?;
        if row.get(at + 1) != Some(&b'"') {
            break;
        }
        at += 2;
    }
    let rest = &row[at + 1..];
    let next = rest.iter().position(|byte| *byte == delimiter);
    let between = &rest[..next.unwrap_or(rest.len())];
    between
        .iter()
        .all(|byte| blank(*byte))
        .then_some(((start, at), next.map(|next| at + 2 + next)))
}

const fn blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(row: &str, delimiter: u8) -> Option<Vec<String>> {
        let mut fields = Fields::default();
        fields.split(row.as_bytes(), delimiter).then(|| {
            let found = (0..fields.count()).filter_map(|index| fields.get(row.as_bytes(), index));
            found
                .map(|field| String::from_utf8_lossy(field).into_owned())
                .collect()
        })
    }

    #[test]
    fn rows_as_the_world_writes_them() {
        for (row, delimiter, expected) in [
            ("a,b,c", b',', vec!["a", "b", "c"]),
            ("a, b ,c\r", b',', vec!["a", "b", "c"]),
            ("1;\t2;\t3;", b';', vec!["1", "2", "3"]),
            ("1\t\t3", b'\t', vec!["1", "", "3"]),
            (
                "\"a,b\" , \"c \"\"d\"\"\",",
                b',',
                vec!["a,b", "c \"\"d\"\""],
            ),
            ("", b',', vec![""]),
        ] {
            assert_eq!(
                split(row, delimiter),
                Some(expected.iter().map(|one| (*one).into()).collect())
            );
        }
        assert_eq!(split("a,\"b", b','), None);
        assert_eq!(split("a,\"b\"c,d", b','), None);
    }

    #[test]
    fn a_row_of_delimiters_is_bounded() {
        let mut fields = Fields::default();
        assert!(fields.split(&vec![b','; 100_000], b','));
        assert!(fields.spans.len() <= MOST);
    }
}
