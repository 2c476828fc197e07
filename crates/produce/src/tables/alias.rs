//! Walker's alias method: one of n by its probability with one draw and one
//! comparison, whatever the probabilities are.

/// One column: below `threshold` (of 2^32) itself, else `other`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    pub threshold: u32,
    pub other: u32,
}

/// The columns for `weights`, which need not add up to 1. What rounding
/// changes of a probability is below 2^-31.
pub fn columns(weights: &[f64]) -> Vec<Column> {
    let n = weights.len();
    let total: f64 = weights.iter().sum();
    let mut height: Vec<f64> = weights.iter().map(|w| w / total * n as f64).collect();
    let mut columns: Vec<Column> = (0..n as u32).map(|i| Column { threshold: u32::MAX, other: i }).collect();
    let (mut low, mut high): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| height[i] < 1.0);
    while let (Some(&small), Some(&large)) = (low.last(), high.last()) {
        low.pop();
        let threshold = (height[small] * 2f64.powi(32)).round().min(f64::from(u32::MAX)) as u32;
        columns[small] = Column { threshold, other: large as u32 };
        height[large] -= 1.0 - height[small];
        if height[large] < 1.0 {
            high.pop();
            low.push(large);
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_hold_the_probabilities() {
        for weights in [vec![1.0], vec![1.0, 3.0], vec![0.1, 0.2, 0.7], vec![1e-9, 1.0, 2.0, 0.0, 5.0]] {
            let columns = columns(&weights);
            let mut mass = vec![0.0; weights.len()];
            for (i, column) in columns.iter().enumerate() {
                let own =
                    if column.other == i as u32 { 1.0 } else { f64::from(column.threshold) / 2f64.powi(32) };
                mass[i] += own;
                mass[column.other as usize] += 1.0 - own;
            }
            let total: f64 = weights.iter().sum();
            for (mass, weight) in mass.iter().zip(&weights) {
                let expected = weight / total;
                assert!((mass / weights.len() as f64 - expected).abs() < 1e-9, "{weights:?}");
            }
        }
    }
}
