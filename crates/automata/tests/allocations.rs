//! After warm-up, walks and mutations of walks allocate nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use wug_automata::{Built, Form, Limits, Mutant, Pool, Trace, Tracer, Walker, Weight};
use wug_grammar::builtin;
use wug_grammar::transform::lower;
use wug_random::Rng;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: all is handed on to the system's allocator; the count is a plain
// number of this thread, which needs no allocation.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn mutations_allocate_nothing_once_warm() {
    let grammar = builtin::find("json").expect("built in").load().expect("it loads").grammar;
    let form = Form::of(&lower::lower(&grammar).grammar).expect("a form");
    let built = Built::new(form, Limits { stack: None, states: 5_000, transitions: 50_000 });
    let built = built.expect("an automaton");
    let walker = Walker::new(&built.automaton, Weight::One);
    let mut tracer = Tracer::new(&walker);
    let mut rng = Rng::new(1, 1);
    let random = &mut || rng.wide();
    const MAX: u32 = 2_000;
    let (mut pool, mut walks, mut trace) = (Pool::default(), Vec::new(), Trace::default());
    for _ in 0..50 {
        let (mut walk, mut input) = (Vec::with_capacity(MAX as usize), Vec::new());
        walker.walk(random, MAX, &mut walk, &mut input).expect("JSON is short");
        assert!(tracer.trace(&walk, &mut trace));
        assert!(pool.add(&trace));
        walks.push(walk);
    }
    let mut into = Mutant::default();
    let mut turn = |count: u64| {
        let mut made = 0;
        for i in 0..count {
            let at = i as usize % walks.len();
            assert!(tracer.trace(&walks[at], &mut trace));
            let done = match i % 6 {
                0 => walker.random(&trace, random, MAX, &mut into),
                1 => trace.splice(&pool, random, MAX, &mut into),
                2 => trace.recurse(random, MAX, &mut into),
                3 => walker.untraced(&walks[at]).random(random, MAX, &mut into),
                4 => walker.untraced(&walks[at]).splice(&pool, random, MAX, &mut into),
                _ => {
                    into.bytes.clear();
                    walker.walk(random, MAX, &mut into.steps, &mut into.bytes).is_ok()
                }
            };
            if done {
                walks[at].clone_from(&into.steps);
                made += 1;
            }
        }
        made
    };
    turn(100_000);
    let before = ALLOCATIONS.with(Cell::get);
    let made = turn(20_000);
    let allocations = ALLOCATIONS.with(Cell::get) - before;
    assert!(made > 10_000, "{made}");
    assert_eq!(allocations, 0, "in {made} mutations");
}
