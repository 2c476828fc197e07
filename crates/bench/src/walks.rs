//! `wug-bench walks`: derivations against walks, as in Table 2 of the paper
//! on Gramatron.
//!
//! On made-up grammars in the shape and size of the paper's, inputs of up to
//! 80 terminals in eight buckets: what a representation takes, what it costs
//! to generate an input, and what it costs to change one (random, splice,
//! recursion). As in the paper, a change counts with all that it needs to
//! know of the input, and with writing the bytes, and is in the bucket of what
//! it makes. The figure is the mean of the medians of the buckets; the effect
//! size (Cohen's d) is over inputs. The scale of a random mutation is how many
//! terminals it makes, whatever the bucket.

mod contest;

use super::median;
use clap::Args;
use contest::Contest;
use serde::Serialize;
use std::fmt::Write;
use wug::cli::commands::{print, print_json};
use wug::cli::{Failure, Outcome};
use wug_automata::{Built, Form, Limits, Walker, Weight, shapes};
use wug_grammar::transform::lower;
use wug_grammar::{Notation, load::load_text};

/// Compare derivations and walks: size, generation, mutation
#[derive(Args)]
#[command(after_help = "Example:\n  wug-bench walks")]
pub struct WalksBench {
    /// Alternatives of each grammar
    #[arg(long, value_delimiter = ',', default_values_t = shapes::SIZES, value_name = "N,N…")]
    sizes: Vec<usize>,
    /// Inputs in each bucket
    #[arg(long, default_value = "100", value_name = "N")]
    inputs: usize,
    /// Rounds over all inputs
    #[arg(long, default_value = "5", value_name = "N")]
    rounds: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Buckets of inputs, by terminals: up to ten, up to twenty…
const BUCKETS: usize = 8;
const BUCKET: usize = 10;

/// Values of inputs, in buckets.
type Values = [Vec<f64>; BUCKETS];

#[derive(Serialize)]
struct Row {
    alternatives: usize,
    measure: &'static str,
    unit: &'static str,
    derivations: f64,
    walks: f64,
    /// How much less walks take, in percent; of the scale, how much more.
    improvement: f64,
    /// Positive where walks are better.
    effect_size: f64,
}

impl WalksBench {
    pub fn run(self) -> Outcome {
        if self.inputs == 0 || self.rounds == 0 {
            return Err(Failure::usage("give one input and one round at least"));
        }
        let mut rows = Vec::new();
        for &size in &self.sizes {
            self.measure(size, &mut rows)?;
        }
        if self.json {
            return print_json(&serde_json::json!({ "benchmark": "walks", "rows": rows }));
        }
        let mut out = format!(
            "{:>12} {:>15} {:>12} {:>9} {:>6} {:>12} {:>12}\n",
            "alternatives", "", "derivations", "walks", "", "improvement", "effect size"
        );
        for row in &rows {
            let _ = writeln!(
                out,
                "{:>12} {:>15} {:>12.1} {:>9.1} {:>6} {:>10.1} % {:>12.2}",
                row.alternatives,
                row.measure,
                row.derivations,
                row.walks,
                row.unit,
                row.improvement,
                row.effect_size
            );
        }
        print(&out)
    }

    fn measure(&self, alternatives: usize, rows: &mut Vec<Row>) -> Result<(), Failure> {
        let loaded = load_text("shape.wug", &shapes::grammar(alternatives), Notation::Wug);
        let grammar = loaded.map_err(|_| Failure::Message(1, "the made-up grammar is wrong".to_string()))?;
        let form = Form::of(&lower::lower(&grammar.grammar).grammar);
        let built = form.and_then(|form| Built::new(form, Limits::DEFAULT));
        let built = built.map_err(|unfit| Failure::Message(1, unfit.to_string()))?;
        let walker = Walker::new(&built.automaton, Weight::One);
        let mut contest = Contest::new(&built, &walker, self.inputs, self.rounds)
            .ok_or_else(|| Failure::Message(1, "the made-up grammar has no derivations".to_string()))?;
        let mut add = |measure, unit: &'static str, (derivations, walks): (Values, Values)| {
            let (ours, theirs) = (mean_of_medians(&walks), mean_of_medians(&derivations));
            // Of the scale more is better, of all else less.
            let sign = if unit.is_empty() { -1.0 } else { 1.0 };
            let improvement = (1.0 - ours / theirs) * sign;
            rows.push(Row {
                alternatives,
                measure,
                unit,
                derivations: theirs,
                walks: ours,
                improvement: improvement * 100.0,
                effect_size: effect_size(&derivations.concat(), &walks.concat()) * sign,
            });
        };
        add("representation", "bytes", contest.sizes());
        add("generation", "ns", contest.generation());
        add("splice", "ns", contest.mutation(contest::Kind::Splice));
        add("random", "ns", contest.mutation(contest::Kind::Random));
        add("recursion", "ns", contest.mutation(contest::Kind::Recursion));
        add("mutation scale", "", contest.scale());
        Ok(())
    }
}

fn mean_of_medians(values: &Values) -> f64 {
    let medians: Vec<f64> = values.iter().filter(|v| !v.is_empty()).map(|v| median(v.clone())).collect();
    mean(&medians)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Cohen's d: the distance of the means in standard deviations.
fn effect_size(left: &[f64], right: &[f64]) -> f64 {
    let squares = |values: &[f64]| {
        let mean = mean(values);
        values.iter().map(|v| (v - mean).powi(2)).sum::<f64>()
    };
    let degrees = (left.len() + right.len()).saturating_sub(2).max(1) as f64;
    let deviation = ((squares(left) + squares(right)) / degrees).sqrt();
    (mean(left) - mean(right)) / deviation.max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effect_sizes_are_in_deviations() {
        // Means 2 and 4, both of deviation 1.
        assert_eq!(effect_size(&[4.0, 3.0, 5.0], &[1.0, 2.0, 3.0]), 2.0);
    }
}
