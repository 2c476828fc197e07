//! What sentential forms are made of.
//!
//! An [`Item`] is a part of a form that is still to be derived, with its
//! depth relative to that of the form: tables are shared by all depths
//! beyond [`HORIZON`]. A [`Row`] is a depth as tables see it.

use wug_grammar::{BodyId, ClassId, RepeatId};

/// Rows below this are exact numbers of levels left; this one stands for as
/// many or more. Expansions from it never look so deep that it matters.
pub const HORIZON: u16 = 7;

/// Levels left, up to [`HORIZON`]; 0 is closed.
pub type Row = u16;

/// No ceiling.
pub const UNLIMITED: u16 = u16::MAX;
/// The ceiling of what is free at any depth.
pub const FREE: u16 = u16::MAX - 1;

/// Something to derive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// Bytes of the grammar's literals.
    Text { start: u32, len: u32 },
    /// One byte of a set; see [`super::sets`].
    Set(u32),
    /// A member of a class.
    Class(ClassId),
    /// An alternative of a body.
    Body(BodyId),
    /// One of those alternatives of a body that it offers from the first
    /// number to the second.
    Among(BodyId, u32, u32),
    /// A repetition.
    Repeat(RepeatId),
    /// What may come of a repetition beyond its least count, when this many
    /// came already; see [`super::expand`].
    More(RepeatId, u32),
    /// What may come in a block of a long repetition that is not full, when
    /// this many came in it.
    Within(RepeatId, u32),
    /// A body this often.
    Times(BodyId, u32),
    /// Parts of an alternative, from the first number to the second; see
    /// [`super::parts`].
    Parts(u32, u32),
    /// Before the items of a symbol: what its table left to be drawn again,
    /// so often; or the part of its forms that was drawn, 0 if it is all.
    Rest { part: u16, draws: u16 },
}

/// Something to derive at a depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Item {
    pub what: What,
    /// Levels less than the form has.
    pub delta: u16,
    /// At most this many levels, whatever the form has.
    pub ceiling: u16,
}

/// What is known of the levels that an item has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Levels {
    Closed,
    Free,
    /// Beyond the horizon.
    Unknown,
}

impl Item {
    /// An item to which depth means nothing.
    pub fn flat(what: What) -> Item {
        Item { what, delta: 0, ceiling: UNLIMITED }
    }

    /// What this item has left in a form of `row`.
    pub fn levels(&self, row: Row) -> Levels {
        if self.ceiling == FREE {
            Levels::Free
        } else if self.ceiling == 0 || (row < HORIZON && self.delta >= row) {
            Levels::Closed
        } else if row < HORIZON || self.delta < HORIZON {
            Levels::Free
        } else {
            Levels::Unknown
        }
    }

    /// The same item written in the one way that its depth has in `row`.
    pub fn canonical(mut self, row: Row) -> Item {
        if row < HORIZON && self.ceiling != FREE {
            let left = row.saturating_sub(self.delta).min(self.ceiling);
            self.delta = row - left;
            self.ceiling = UNLIMITED;
        }
        self
    }
}

/// The items of a stack symbol and the levels to take off when it is
/// pushed: items relative to the least of them.
pub fn normalise(items: &mut [Item], depends: impl Fn(&Item) -> bool, row: Row) -> u16 {
    let closed = |item: &Item| item.levels(row) == Levels::Closed;
    let mut least = u16::MAX;
    for item in items.iter() {
        if depends(item) && !closed(item) {
            least = least.min(item.delta);
        }
    }
    // If all that depth means something to is closed, so is the symbol. At
    // the horizon there may be more levels than can be taken off.
    let closed = least == u16::MAX;
    for item in items.iter_mut() {
        if closed || !depends(item) {
            item.delta = 0;
            let stays = item.ceiling == FREE || (item.ceiling == 0 && row == HORIZON && depends(item));
            item.ceiling = if stays { item.ceiling } else { UNLIMITED };
        } else if item.ceiling == 0 {
            item.delta = 0;
        } else {
            item.delta -= least;
        }
    }
    least
}
