//! A scatter of points as an SVG picture: both axes logarithmic.
//!
//! In:  series of points with positive coordinates, and texts.
//! Out: the text of an SVG file that needs nothing else.

use plotters::prelude::*;

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

const SIZE: (u32, u32) = (900, 600);
/// Told apart by those who see colours differently, too.
const COLOURS: [RGBColor; 5] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0x55, 0x55, 0x55),
];

impl Plot {
    pub fn svg(&self) -> Result<String, String> {
        let mut out = String::new();
        self.draw(SVGBackend::with_string(&mut out, SIZE)).map_err(|error| error.to_string())?;
        Ok(out)
    }

    fn draw(&self, backend: SVGBackend<'_>) -> Result<(), Box<dyn std::error::Error>> {
        let area = backend.into_drawing_area();
        area.fill(&WHITE)?;
        let all = || self.series.iter().flat_map(|series| &series.points);
        let mut chart = ChartBuilder::on(&area)
            .caption(&self.title, ("sans-serif", 18))
            .margin(15)
            .x_label_area_size(45)
            .y_label_area_size(80)
            .build_cartesian_2d(
                decades(all().map(|point| point.0)).log_scale(),
                decades(all().map(|point| point.1)).log_scale(),
            )?;
        chart
            .configure_mesh()
            .x_desc(&self.x_label)
            .y_desc(&self.y_label)
            .light_line_style(TRANSPARENT)
            .x_label_formatter(&|value| number(*value))
            .y_label_formatter(&|value| number(*value))
            .draw()?;
        for (series, colour) in self.series.iter().zip(COLOURS.into_iter().cycle()) {
            let circle = |&point: &(f64, f64)| Circle::new(point, 2, colour.mix(0.45).filled());
            let drawn = chart.draw_series(series.points.iter().map(circle))?;
            drawn.label(&series.name).legend(move |point| Circle::new(point, 5, colour.filled()));
        }
        let labels =
            chart.configure_series_labels().background_style(WHITE.mix(0.8)).border_style(BLACK).draw();
        labels?;
        area.present()?;
        Ok(())
    }
}

/// Whole decades that hold all values.
fn decades(values: impl Iterator<Item = f64>) -> std::ops::Range<f64> {
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values {
        (least, most) = (least.min(value.log10()), most.max(value.log10()));
    }
    if least > most {
        return 1.0..10.0;
    }
    10f64.powf(least.floor())..10f64.powf(most.ceil().max(least.floor() + 1.0))
}

/// A power of ten as people write it.
fn number(value: f64) -> String {
    if value < 1.0 {
        return value.to_string();
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_out() {
        let texts = [0.01, 1.0, 100.0, 1_000.0, 10_000_000.0].map(number);
        assert_eq!(texts, ["0.01", "1", "100", "1,000", "10,000,000"]);
    }

    #[test]
    fn all_points_are_in_the_picture() {
        let points = vec![(3.0, 0.2), (4_000.0, 99.0), (1.0, 100.0)];
        let series = vec![Series { name: "a<b".into(), points }];
        let plot = Plot { title: "t".into(), x_label: "x".into(), y_label: "y".into(), series };
        let svg = plot.svg().expect("a picture");
        assert!(svg.contains("a&lt;b"));
        assert_eq!(svg.matches("<circle").count(), 4, "three points and the legend's");
        assert_eq!(decades([3.0, 4_000.0].into_iter()), 1.0..10_000.0);
    }
}
