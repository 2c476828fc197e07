//! How much stack it takes to finish an item.
//!
//! In:  a form with all transitions.
//! Out: for each item, the least height of the stack that suffices to get
//!      rid of it, itself included and nothing below it.
//!
//! With that, whether a stack can be emptied under a limit is arithmetic:
//! each of its items must fit in above what lies below it. So states that
//! cannot reach the end are never made.

use super::Form;
use std::collections::VecDeque;

pub(super) fn heights(form: &Form) -> Vec<u32> {
    let items = 0..form.items.len() as u32;
    let mut values: Vec<u32> = form.items.iter().map(|i| if i.nullable { 1 } else { u32::MAX }).collect();
    // Which items have a transition that pushes an item.
    let mut users: Vec<Vec<u32>> = vec![Vec::new(); form.items.len()];
    for item in items.clone() {
        for pushed in form.transitions_of(item).flat_map(|t| form.pushed(t)) {
            if users[pushed as usize].last() != Some(&item) {
                users[pushed as usize].push(item);
            }
        }
    }
    let mut open: VecDeque<u32> = items.collect();
    let mut waiting = vec![true; form.items.len()];
    while let Some(item) = open.pop_front() {
        waiting[item as usize] = false;
        let least = form.transitions_of(item).map(|t| height(form, &values, t).max(1)).min();
        if let Some(least) = least.filter(|&least| least < values[item as usize]) {
            values[item as usize] = least;
            for &user in &users[item as usize] {
                if !std::mem::replace(&mut waiting[user as usize], true) {
                    open.push_back(user);
                }
            }
        }
    }
    values
}

/// The height that what a transition pushes takes.
fn height(form: &Form, heights: &[u32], transition: u32) -> u32 {
    let above = |(below, item): (usize, u32)| heights[item as usize].saturating_add(below as u32);
    form.pushed(transition).enumerate().map(above).max().unwrap_or(0)
}
