//! Which tokens the lexical rules make.
//!
//! In:  the lexical rules of a [`Unit`].
//! Out: [`Tokens`]: a rule becomes one token of ours for each different set
//!      of commands on its alternatives ([`Variant`]); a token's type may be
//!      the name of another rule (`type(X)`).

use super::tree::{Alternative, Command, What};
use super::unit::Unit;
use crate::ast::Action;
use crate::diagnostic::{Diagnostic, Diagnostics, nearest};
use hashbrown::{HashMap, HashSet};
use std::ops::Range;

/// A token of ours: some alternatives of a lexical rule.
#[derive(Debug)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// The lexical rule it comes from.
    pub rule: usize,
    /// Its alternatives.
    pub alternatives: Range<usize>,
    pub effect: Effect,
}

/// What becomes of a text that a rule matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The type of the token.
    pub kind: String,
    /// The parser does not see it.
    pub hidden: bool,
    /// The text goes on with the next match.
    pub more: bool,
    /// What it does to the modes.
    pub action: Action<usize>,
    /// The channel, if it is named.
    pub channel: Option<String>,
}

/// The tokens of a unit.
pub struct Tokens {
    pub variants: Vec<Variant>,
    /// By lexical rule: its variants; none for a fragment.
    pub of_rule: Vec<Range<usize>>,
    /// By type: the variants that the parser sees.
    pub by_type: HashMap<String, Vec<usize>>,
    /// By lexical rule: its mode.
    pub mode_of: Vec<usize>,
    /// Lexical rules by name.
    pub rules: HashMap<String, usize>,
    /// Names of ours that are taken.
    pub names: HashSet<String>,
}

impl Tokens {
    pub fn of(unit: &Unit, diags: &mut Diagnostics) -> Tokens {
        let mut tokens = Tokens {
            variants: Vec::new(),
            of_rule: Vec::new(),
            mode_of: unit.lexical.iter().map(|l| l.mode).collect(),
            by_type: HashMap::new(),
            rules: HashMap::new(),
            names: HashSet::new(),
        };
        tokens.names.extend(unit.syntax.iter().map(|r| r.name.clone()));
        tokens.names.extend(unit.lexical.iter().map(|l| l.rule.name.clone()));
        for (at, lexical) in unit.lexical.iter().enumerate() {
            tokens.rules.insert(lexical.rule.name.clone(), at);
            let first = tokens.variants.len();
            if !lexical.rule.fragment {
                tokens.add(unit, at, diags);
            }
            tokens.of_rule.push(first..tokens.variants.len());
        }
        for (at, variant) in tokens.variants.iter().enumerate() {
            if !variant.effect.hidden && !variant.effect.more {
                tokens.by_type.entry(variant.effect.kind.clone()).or_default().push(at);
            }
        }
        tokens
    }

    /// A name that no rule has yet.
    pub fn fresh(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_string();
        let mut n = 1;
        while !self.names.insert(name.clone()) {
            n += 1;
            name = format!("{wanted}_{n}");
        }
        name
    }

    fn add(&mut self, unit: &Unit, rule: usize, diags: &mut Diagnostics) {
        let lexical = unit.lexical[rule];
        let alternatives = flat(&lexical.rule.block.0);
        let mut from = 0;
        let mut first = true;
        while from < alternatives.len() {
            let effect = effect(unit, rule, &alternatives[from].commands, diags);
            let mut to = from + 1;
            // Hidden ones stay apart: some may be white space, and some not.
            while to < alternatives.len()
                && !effect.hidden
                && same(&alternatives[from].commands, &alternatives[to].commands)
            {
                to += 1;
            }
            let name = &lexical.rule.name;
            let name = if first { name.clone() } else { self.fresh(name) };
            first = false;
            self.variants.push(Variant { name, rule, alternatives: from..to, effect });
            from = to;
        }
    }
}

/// The alternatives of a rule. Where one pair of parentheses holds all of
/// them, those inside count, if they have commands.
pub fn flat(alternatives: &[Alternative]) -> &[Alternative] {
    if let [only] = alternatives
        && only.commands.is_empty()
        && let [element] = &only.elements[..]
        && let What::Block(block) = &element.what
        && block.0.iter().any(|a| !a.commands.is_empty())
    {
        return flat(&block.0);
    }
    alternatives
}

fn same(a: &[Command], b: &[Command]) -> bool {
    let argument = |c: &Command| c.argument.as_ref().map(|(text, _)| text.clone());
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.name == b.name && argument(a) == argument(b))
}

/// What a list of commands comes to.
fn effect(unit: &Unit, rule: usize, commands: &[Command], diags: &mut Diagnostics) -> Effect {
    let lexical = unit.lexical[rule];
    let mut effect = Effect {
        kind: lexical.rule.name.clone(),
        hidden: false,
        more: false,
        action: Action::Stay,
        channel: None,
    };
    // Modes taken off the stack, this one first, and those put there.
    let (mut drop, mut push) = (0u32, Vec::new());
    for command in commands {
        // ANTLR puts the first letter into upper case itself, so any will do.
        let mut name = command.name.clone();
        if let Some(first) = name.get_mut(..1) {
            first.make_ascii_lowercase();
        }
        let name = name.as_str();
        let wants = matches!(name, "type" | "channel" | "mode" | "pushMode");
        let argument = match (&command.argument, wants) {
            (Some((text, _)), true) => text.as_str(),
            (None, false) => "",
            (None, true) => {
                let message = format!("the command `{}` needs an argument", command.name);
                let help = format!("as in `{}(NAME)`", command.name);
                diags.push(Diagnostic::error(command.span, message).help(help));
                continue;
            }
            (Some((_, span)), false) => {
                let message = format!("the command `{}` takes no argument", command.name);
                diags.push(Diagnostic::error(*span, message).help("remove the parentheses"));
                continue;
            }
        };
        match name {
            "skip" => effect.hidden = true,
            "more" => effect.more = true,
            "type" => effect.kind = argument.to_string(),
            "channel" => {
                effect.hidden = !matches!(argument, "DEFAULT_TOKEN_CHANNEL" | "0");
                effect.channel = effect.hidden.then(|| argument.to_string());
            }
            "popMode" => {
                if push.pop().is_none() {
                    drop += 1;
                }
            }
            "mode" | "pushMode" => {
                let Some(mode) = mode(unit, command, argument, diags) else { continue };
                if name == "mode" && push.pop().is_none() {
                    drop += 1;
                }
                push.push(mode);
            }
            other => {
                let message = format!("unknown lexer command `{other}`");
                let all = ["skip", "more", "type", "channel", "mode", "pushMode", "popMode"];
                let help = match nearest(other, all.into_iter()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are {}", all.join(", ")),
                };
                diags.push(Diagnostic::error(command.span, message).help(help));
            }
        }
    }
    effect.action = match (drop, &push[..]) {
        (1, &[mode]) if mode == lexical.mode => Action::Stay,
        (drop, push) => Action::of(drop, push).unwrap_or_else(|| {
            let message = "these commands enter more than two modes at once";
            let span = commands.first().map_or(lexical.rule.span, |c| c.span);
            diags.push(Diagnostic::error(span, message).help("enter them with several tokens"));
            Action::Stay
        }),
    };
    effect
}

fn mode(unit: &Unit, command: &Command, name: &str, diags: &mut Diagnostics) -> Option<usize> {
    if name == "DEFAULT_MODE" {
        return Some(0);
    }
    let numbered = name.parse::<usize>().ok().filter(|&n| n <= unit.modes.len());
    let found = unit.modes.iter().position(|(n, _)| *n == name).map(|i| i + 1).or(numbered);
    if found.is_none() {
        let span = command.argument.as_ref().map_or(command.span, |(_, span)| *span);
        let error = Diagnostic::error(span, format!("unknown mode `{name}`"));
        let near = nearest(name, unit.modes.iter().map(|(n, _)| *n));
        diags.push(match near {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help(format!("begin it with `mode {name};`")),
        });
    }
    found
}
