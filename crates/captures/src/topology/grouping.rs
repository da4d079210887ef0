//! Which memory nodes lie together, by the distances between them.
//!
//! Those that reach each other in steps of the least distance there is are a group; the groups are
//! grouped again by their mean distances. One group of all is none. That is how hwloc finds drawers
//! and boards that nothing names.

/// Groups of places of a square matrix, the innermost first; empty if it does not say any.
pub(crate) fn groups(rows: &[Vec<u64>]) -> Vec<Vec<usize>> {
    let size = rows.len();
    if !is_sound(rows) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut members: Vec<Vec<usize>> = (0..size).map(|place| vec![place]).collect();
    let mut values: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| row.iter().map(|value| *value as f64).collect())
        .collect();
    while members.len() > 2 {
        let inner = nearest(&values);
        if inner.is_empty() {
            break;
        }
        values = means(&values, &inner);
        members = inner.iter().map(|group| joined(&members, group)).collect();
        found.extend(members.iter().cloned());
    }
    found
}

/// Whether distances are the same both ways and the least to oneself.
fn is_sound(rows: &[Vec<u64>]) -> bool {
    let size = rows.len();
    rows.iter().all(|row| row.len() == size)
        && (0..size).all(|i| {
            (0..size).all(|j| i == j || (rows[i][j] == rows[j][i] && rows[i][j] > rows[i][i]))
        })
}

fn joined(members: &[Vec<usize>], group: &[usize]) -> Vec<usize> {
    let mut all: Vec<usize> = group
        .iter()
        .flat_map(|place| members[*place].clone())
        .collect();
    all.sort_unstable();
    all
}

/// Those connected by the least distance; places alone are in no group.
fn nearest(values: &[Vec<f64>]) -> Vec<Vec<usize>> {
    let size = values.len();
    let apart = (0..size).flat_map(|i| (0..size).filter(move |j| i != *j).map(move |j| (i, j)));
    let least = apart
        .map(|(i, j)| values[i][j])
        .fold(f64::INFINITY, f64::min);
    let mut grouped = vec![false; size];
    let mut groups = Vec::new();
    for first in 0..size {
        if grouped[first] {
            continue;
        }
        grouped[first] = true;
        let mut group = vec![first];
        let mut next = 0;
        while let Some(&place) = group.get(next) {
            next += 1;
            for other in 0..size {
                if !grouped[other] && values[place][other] <= least {
                    grouped[other] = true;
                    group.push(other);
                }
            }
        }
        if group.len() > 1 {
            groups.push(group);
        }
    }
    if groups.first().is_some_and(|group| group.len() == size) {
        groups.clear();
    }
    groups
}

/// Mean distances between groups.
fn means(values: &[Vec<f64>], groups: &[Vec<usize>]) -> Vec<Vec<f64>> {
    let mean = |a: &Vec<usize>, b: &Vec<usize>| {
        let pairs = a.iter().flat_map(|i| b.iter().map(move |j| values[*i][*j]));
        pairs.sum::<f64>() / (a.len() * b.len()) as f64
    };
    groups
        .iter()
        .map(|a| groups.iter().map(|b| mean(a, b)).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(text: &str) -> Vec<Vec<u64>> {
        let row = |line: &str| {
            line.split(' ')
                .filter_map(|word| word.parse().ok())
                .collect()
        };
        text.lines().map(row).collect()
    }

    #[test]
    fn pairs_and_pairs_of_pairs_are_found() {
        let rows = matrix(
            "10 20 40 40 80 80\n20 10 40 40 80 80\n40 40 10 20 80 80\n40 40 20 10 80 80\n\
             80 80 80 80 10 20\n80 80 80 80 20 10",
        );
        let found = groups(&rows);
        assert_eq!(found[..3], [vec![0, 1], vec![2, 3], vec![4, 5]]);
        assert_eq!(found[3..], [vec![0, 1, 2, 3]]);
    }

    #[test]
    fn equal_lopsided_or_uneven_distances_group_nothing() {
        for text in [
            "10 20 20\n20 10 20\n20 20 10",
            "10 20 30\n30 10 20\n20 30 10",
            "10 20\n20",
            "10 10 20\n10 10 20\n20 20 10",
            "",
        ] {
            assert!(groups(&matrix(text)).is_empty(), "{text}");
        }
    }
}
