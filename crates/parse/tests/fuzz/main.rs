//! Random grammars and random bytes: no panic, no hang.

mod body;

use arbtest::arbtest;
use body::Tally;
use wug_grammar::testing::budget;

#[test]
fn random_grammars_and_random_bytes() {
    let mut tally = Tally::default();
    arbtest(|u| body::check(u, &mut tally)).budget_ms(budget(4_000));
    eprintln!("{tally:?}");
    assert!(tally.accepted > 5 && tally.rejected > 20 && tally.read > 2, "{tally:?}");
}
