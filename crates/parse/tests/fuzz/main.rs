//! Random grammars and random bytes: no panic, no hang.

mod body;

use arbtest::arbtest;
use body::Tally;
use wug_grammar::testing::budget;

#[test]
fn random_grammars_and_random_bytes() {
    let mut tally = Tally::default();
    // On a slow machine, one grammar can take all the time.
    for _ in 0..5 {
        arbtest(|u| body::check(u, &mut tally)).budget_ms(budget(4_000));
        if tally.accepted > 3 && tally.rejected > 3 {
            break;
        }
    }
    eprintln!("{tally:?}");
    assert!(tally.accepted > 3 && tally.rejected > 3, "{tally:?}");
}
