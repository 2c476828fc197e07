//! From a stack symbol and a row to its table.
//!
//! In:  the items of the symbol, the row, and how many entries the table may
//!      have.
//! Out: forms that cover all that can come of the symbol, each once, with
//!      exact probabilities.
//!
//! As in Tunstall's codes, the most probable form is expanded first until
//! the room is used up. So each draw from the table settles about as much
//! as any other.

use super::expand::{Emit, Expander, Form};
use super::item::{Item, Row, What};
use super::plan::LEAST_ROOM;
use super::shares::fit;
use hashbrown::HashMap;
use std::collections::BinaryHeap;
use wug_grammar::{BodyId, Symbol, count};
use wug_produce::program::Program;

/// Most symbols that an entry pushes.
pub const PUSHES: usize = 4;
/// A group of items is not prolonged beyond this many mean bytes.
const GROUP_LENGTH: f64 = 5.0;
/// Most items of a group that are not text.
const GROUP_CHOICES: usize = 3;
/// Levels that items of a group are apart at most: more, and there are too
/// many groups that differ in nothing else.
const GROUP_SPREAD: u16 = 1;
/// A table that gets no more room than this is expanded only as far as a few
/// slots hold its probabilities: there are many such tables.
const LEAST_SLOTS: u64 = 16;
/// Text of at most this many bytes goes along with what stands before it.
const GROUP_TAIL: u32 = 4;

/// A form on the heap, most probable first, then oldest.
struct Ranked {
    probability: f64,
    at: usize,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Ranked) -> std::cmp::Ordering {
        self.probability.total_cmp(&other.probability).then(other.at.cmp(&self.at))
    }
}
impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Ranked) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Ranked {
    fn eq(&self, other: &Ranked) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Ranked {}

/// The forms of a symbol's table.
pub fn forms(
    expander: &mut Expander,
    program: &Program,
    means: &Means,
    items: &[Item],
    row: Row,
    room: usize,
) -> Vec<Form> {
    let rest: Vec<Item> = items.iter().rev().map(|item| item.canonical(row)).collect();
    let mut root = Form { probability: 1.0, emit: Vec::new(), rest, full: false };
    expander.settle(program, &mut root, row);
    let mut found = Found::default();
    let mut count = 1;
    let mut children = Vec::new();
    if !root.full {
        // The first choice is always made here.
        expander.expand(program, &root, row, &mut children);
        count = children.len();
        children.drain(..).for_each(|form| found.put(form));
    } else {
        found.put(root);
    }
    while let Some(form) = found.likeliest() {
        expander.expand(program, &form, row, &mut children);
        let more = count + children.len() - 1;
        let fits = more <= room
            && (room > LEAST_ROOM || found.fit(&children))
            && children
                .iter()
                .all(|child| groups(means, |item| expander.depends(item), &child.rest).len() <= PUSHES);
        if fits {
            count = more;
            children.drain(..).for_each(|form| found.put(form));
        } else {
            children.clear();
            found.put(Form { full: true, ..form });
        }
    }
    merge(found.done)
}

/// Forms on the way to a table.
#[derive(Default)]
struct Found {
    done: Vec<Form>,
    /// Those that can be expanded, and their order.
    open: Vec<Option<Form>>,
    heap: BinaryHeap<Ranked>,
}

impl Found {
    fn put(&mut self, form: Form) {
        if form.full {
            self.done.push(form);
        } else {
            self.heap.push(Ranked { probability: form.probability, at: self.open.len() });
            self.open.push(Some(form));
        }
    }

    fn likeliest(&mut self) -> Option<Form> {
        let top = self.heap.pop()?;
        self.open[top.at].take()
    }

    /// Whether a few slots hold the probabilities of all and of `more`.
    fn fit(&self, more: &[Form]) -> bool {
        let all = self.done.iter().chain(self.open.iter().flatten()).chain(more);
        fit(&all.map(|form| form.probability).collect::<Vec<f64>>(), LEAST_SLOTS)
    }
}

/// Forms that are the same become one.
fn merge(forms: Vec<Form>) -> Vec<Form> {
    let mut places: HashMap<(Vec<Emit>, Vec<Item>), usize> = HashMap::with_capacity(forms.len());
    let mut merged: Vec<Form> = Vec::with_capacity(forms.len());
    for form in forms {
        match places.entry((form.emit.clone(), form.rest.clone())) {
            hashbrown::hash_map::Entry::Occupied(at) => merged[*at.get()].probability += form.probability,
            hashbrown::hash_map::Entry::Vacant(free) => {
                free.insert(merged.len());
                merged.push(form);
            }
        }
    }
    merged
}

/// Means are taken over lengths cut here: a long tail does not make long.
const MEAN_CAP: f64 = 8.0;
/// Rounds of working them out; they need not be exact.
const MEAN_TURNS: usize = 4;

/// Mean bytes of each body, roughly: what goes together into one symbol.
#[derive(Debug)]
pub struct Means {
    bodies: Vec<f64>,
}

impl Means {
    pub fn of(program: &Program) -> Means {
        let mut means = Means { bodies: vec![MEAN_CAP; program.grammar.body_count()] };
        for _ in 0..MEAN_TURNS {
            let next =
                (0..means.bodies.len() as u32).map(|body| means.of_body(program, BodyId(body))).collect();
            means.bodies = next;
        }
        means
    }

    fn of_body(&self, program: &Program, body: BodyId) -> f64 {
        let grammar = &program.grammar;
        let mean = |symbol: &Symbol| match *symbol {
            Symbol::Bytes(bytes) => f64::from(bytes.len),
            Symbol::Class(class) => grammar.class(class).mean_len(),
            Symbol::Rule(rule) => self.bodies[grammar.rule(rule).body.index()],
            Symbol::Group(inner) => self.bodies[inner.index()],
            Symbol::Repeat(repeat) => {
                let one = grammar.repeat(repeat);
                (f64::from(one.min) + count::mean_extra(one.min, one.max)) * self.bodies[one.body.index()]
            }
        };
        let alternatives = program.free.alternatives(body).iter().map(|&alt| {
            let weight = f64::from(grammar.alternative(alt).weight);
            weight * grammar.symbols(alt).iter().map(mean).sum::<f64>().min(MEAN_CAP)
        });
        alternatives.sum::<f64>() / (program.free.weight(body) as f64).max(1.0)
    }

    fn of_item(&self, item: &Item) -> f64 {
        match item.what {
            What::Text { len, .. } => f64::from(len),
            What::Set(_) => 1.0,
            What::Class(_) => 1.0,
            What::Body(body) | What::Among(body, ..) => self.bodies[body.index()],
            What::Times(body, times) => f64::from(times) * self.bodies[body.index()],
            What::Rest { .. } => 0.0,
            What::Repeat(_) | What::More(..) | What::Within(..) | What::Parts(..) => GROUP_LENGTH,
        }
    }
}

/// Splits what is open (leftmost last) into the groups that are pushed: each
/// a range, leftmost group first.
pub fn groups(means: &Means, depends: impl Fn(&Item) -> bool, rest: &[Item]) -> Vec<std::ops::Range<usize>> {
    let mut groups: Vec<std::ops::Range<usize>> = Vec::with_capacity(PUSHES + 1);
    let mut end = rest.len();
    let near = |first: Option<u16>, item: &Item| {
        !depends(item) || first.is_none_or(|first| item.delta.abs_diff(first) <= GROUP_SPREAD)
    };
    while end > 0 {
        let (mut at, mut choices, mut mean) = (end, 0, 0.0);
        let mut first = None;
        while at > 0 {
            let item = &rest[at - 1];
            let text = matches!(item.what, What::Text { .. });
            if choices > 0 {
                let tail = matches!(item.what, What::Text { len, .. } if len <= GROUP_TAIL);
                let more = mean < GROUP_LENGTH && choices < GROUP_CHOICES && near(first, item);
                if !(more || (tail && at == 1)) {
                    break;
                }
                if text && at > 1 && mean + means.of_item(item) >= GROUP_LENGTH {
                    break;
                }
            }
            if depends(item) {
                first.get_or_insert(item.delta);
            }
            choices += usize::from(!text);
            mean += means.of_item(item);
            at -= 1;
        }
        // Text before the next choice goes with that one.
        if at > 0 && choices > 0 && matches!(rest[at].what, What::Text { .. }) && at + 1 < end {
            at += 1;
        }
        groups.push(at..end);
        end = at;
    }
    groups
}
