//! `wug grammars`.

use super::{print, print_json};
use crate::cli::Outcome;
use clap::Args;
use serde::Serialize;
use wug_grammar::builtin;

/// List the built-in grammars
#[derive(Args)]
#[command(after_help = "Example:\n  wug grammars\n  wug generate json -n 3")]
pub struct Grammars {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Listing {
    grammars: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    description: &'static str,
}

impl Grammars {
    pub fn run(self) -> Outcome {
        let all = builtin::all();
        if self.json {
            let entries: Vec<Entry> =
                all.iter().map(|b| Entry { name: b.name, description: b.about }).collect();
            return print_json(&Listing { grammars: entries });
        }
        let width = all.iter().map(|b| b.name.len()).max().unwrap_or(0);
        let lines: Vec<String> = all.iter().map(|b| format!("{:width$}  {}", b.name, b.about)).collect();
        print(&lines.join("\n"))
    }
}
