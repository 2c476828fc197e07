//! How a value can stand in an input.

/// A way to write a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As bytes, in either order; narrower than the operand if that was
    /// extended, with zeros or with its sign.
    Bytes {
        width: u8,
        big: bool,
        signed: bool,
    },
    /// As digits.
    Decimal {
        signed: bool,
    },
    Hexadecimal,
    /// The bits of a double, as digits.
    Float,
}

/// The bits of a number of so many bytes.
pub(super) fn mask(size: u8) -> u64 {
    if size >= 8 { u64::MAX } else { (1 << (8 * size)) - 1 }
}

fn extended(value: u64, size: u8) -> i64 {
    let shift = 64 - 8 * u32::from(size.clamp(1, 8));
    ((value << shift) as i64) >> shift
}

/// The size that stands for a double.
pub(super) const DOUBLE: u8 = 0;

impl Form {
    /// The forms of an operand of so many bytes.
    pub fn all(size: u8) -> impl Iterator<Item = Form> {
        let widths = [8u8, 4, 2, 1].into_iter().filter(move |width| *width <= size);
        let bytes = widths.flat_map(move |width| {
            let signs: &[bool] = if width < size { &[false, true] } else { &[false] };
            let orders: &[bool] = if width > 1 { &[false, true] } else { &[false] };
            signs
                .iter()
                .flat_map(move |&signed| orders.iter().map(move |&big| Form::Bytes { width, big, signed }))
        });
        let digits = [Form::Decimal { signed: true }, Form::Decimal { signed: false }, Form::Hexadecimal];
        let texts = digits.into_iter().filter(move |_| size > 1);
        bytes.chain(texts).chain((size == DOUBLE).then_some(Form::Float))
    }

    /// Whether it is written in digits.
    pub fn is_digits(self) -> bool {
        !matches!(self, Form::Bytes { .. })
    }

    /// Writes a value of so many bytes; whether it can be written so.
    pub fn write(self, value: u64, size: u8, out: &mut Vec<u8>) -> bool {
        out.clear();
        match self {
            Form::Bytes { width, big, signed } => {
                let fits = match (width < size, signed) {
                    (false, _) => true,
                    (true, false) => value <= mask(width),
                    (true, true) => extended(value, size) == extended(value, width),
                };
                out.extend_from_slice(&value.to_le_bytes()[..width.into()]);
                if big {
                    out.reverse();
                }
                fits
            }
            Form::Decimal { signed } => {
                let text = if signed { extended(value, size).to_string() } else { value.to_string() };
                out.extend_from_slice(text.as_bytes());
                true
            }
            Form::Hexadecimal => {
                out.extend_from_slice(format!("{value:x}").as_bytes());
                true
            }
            Form::Float => {
                let number = f64::from_bits(value);
                out.extend_from_slice(number.to_string().as_bytes());
                number.is_finite() && out.len() <= 32
            }
        }
    }
}
