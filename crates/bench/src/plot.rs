//! A scatter of points as an SVG picture: both axes logarithmic.
//!
//! In:  series of points with positive coordinates, and texts.
//! Out: the text of an SVG file that needs nothing else.

use std::fmt::Write;

/// Points of one kind.
pub struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// A picture.
pub struct Plot {
    pub title: String,
    pub x_label: String,
    pub y_label: String,
    pub series: Vec<Series>,
}

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 600.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 70.0;
const BOTTOM: f64 = 60.0;
/// Told apart by those who see colours differently, too.
const COLOURS: [&str; 5] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#555555"];

/// One axis: whole decades, and where they lie in the picture.
struct Axis {
    first: i32,
    last: i32,
    from: f64,
    to: f64,
}

impl Axis {
    /// The decades that hold all values.
    fn of(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Axis {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            (least, most) = (least.min(value.log10()), most.max(value.log10()));
        }
        if least > most {
            (least, most) = (0.0, 1.0);
        }
        let first = least.floor() as i32;
        Axis { first, last: (most.ceil() as i32).max(first + 1), from, to }
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value.log10() - f64::from(self.first)) / f64::from(self.last - self.first);
        self.from + share * (self.to - self.from)
    }

    /// The powers of ten.
    fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        (self.first..=self.last).map(|power| (self.at(10f64.powi(power)), decade(power)))
    }
}

/// A power of ten as people write it.
fn decade(power: i32) -> String {
    match power {
        ..0 => format!("0.{}1", "0".repeat((-power - 1) as usize)),
        0..3 => format!("1{}", "0".repeat(power as usize)),
        3..6 => format!("1{},000", "0".repeat((power - 3) as usize)),
        6..9 => format!("1{},000,000", "0".repeat((power - 6) as usize)),
        _ => format!("10^{power}"),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

impl Plot {
    pub fn svg(&self) -> String {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = Axis::of(points().map(|p| p.0), LEFT, WIDTH - RIGHT);
        let y = Axis::of(points().map(|p| p.1), HEIGHT - BOTTOM, TOP);
        let mut out = String::new();
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
             height=\"{HEIGHT}\" font-family=\"sans-serif\" font-size=\"13\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"{LEFT}\" y=\"28\" font-size=\"17\">{}</text>",
            escaped(&self.title)
        );
        let (left, right, top, bottom) = (LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM);
        for (at, text) in x.ticks() {
            let _ = writeln!(
                out,
                "<path d=\"M{at:.1} {top}V{bottom}\" stroke=\"#ddd\"/>\
                 <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>",
                bottom + 20.0
            );
        }
        for (at, text) in y.ticks() {
            let _ = writeln!(
                out,
                "<path d=\"M{left} {at:.1}H{right}\" stroke=\"#ddd\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
                left - 8.0,
                at + 4.5
            );
        }
        let (middle_x, middle_y) = ((left + right) / 2.0, (top + bottom) / 2.0);
        let _ = writeln!(
            out,
            "<path d=\"M{left} {top}V{bottom}H{right}\" stroke=\"#333\" fill=\"none\"/>\n\
             <text x=\"{middle_x}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
             <text x=\"20\" y=\"{middle_y}\" text-anchor=\"middle\" transform=\"rotate(-90 20 {middle_y})\">{}</text>",
            HEIGHT - 15.0,
            escaped(&self.x_label),
            escaped(&self.y_label)
        );
        let mut legend = left;
        for (series, colour) in self.series.iter().zip(COLOURS.iter().cycle()) {
            let _ = writeln!(out, "<g fill=\"{colour}\" fill-opacity=\"0.45\">");
            for (size, speed) in &series.points {
                let _ =
                    writeln!(out, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"1.8\"/>", x.at(*size), y.at(*speed));
            }
            let _ = writeln!(
                out,
                "</g>\n<circle cx=\"{:.1}\" cy=\"49\" r=\"5\" fill=\"{colour}\"/>\
                 <text x=\"{:.1}\" y=\"54\">{}</text>",
                legend + 5.0,
                legend + 16.0,
                escaped(&series.name)
            );
            legend += 50.0 + 8.0 * series.name.chars().count() as f64;
        }
        out.push_str("</svg>\n");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decades_are_written_out() {
        let texts: Vec<String> = (-2..8).map(decade).collect();
        assert_eq!(
            texts,
            ["0.01", "0.1", "1", "10", "100", "1,000", "10,000", "100,000", "1,000,000", "10,000,000"]
        );
    }

    #[test]
    fn points_lie_within_the_frame() {
        let points = vec![(3.0, 0.2), (4_000.0, 99.0), (1.0, 100.0)];
        let series = vec![Series { name: "a<b".into(), points }];
        let plot = Plot { title: "t".into(), x_label: "x".into(), y_label: "y".into(), series };
        let svg = plot.svg();
        assert!(svg.contains("a&lt;b"));
        let mut circles = 0;
        for circle in svg.split("<circle cx=\"").skip(1).filter(|text| text.contains("r=\"1.8\"")) {
            let mut numbers = circle.split('"').step_by(2).take(2).map(|n| n.parse::<f64>().unwrap_or(-1.0));
            let (x, y) = (numbers.next().unwrap_or(-1.0), numbers.next().unwrap_or(-1.0));
            assert!((LEFT..=WIDTH - RIGHT).contains(&x) && (TOP..=HEIGHT - BOTTOM).contains(&y), "{x} {y}");
            circles += 1;
        }
        assert_eq!(circles, 3);
    }
}
