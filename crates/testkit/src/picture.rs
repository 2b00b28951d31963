//! A terminal's screen as a picture, for the manual.

use vt100::{Cell, Color, Screen};

const CELL: (f64, f64) = (8.4, 18.0);
const MARGIN: f64 = 14.0;
/// The sixteen colors of a common dark theme.
const PALETTE: [&str; 16] = [
    "#4b5263", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#abb2bf",
    "#7f848e", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#ffffff",
];
const FOREGROUND: &str = "#dcdfe4";
const BACKGROUND: &str = "#21252b";
const DIM: &str = "#7f848e";

/// The screen as SVG. Each cell has its place, so that no font can move the columns.
pub fn picture(screen: &Screen) -> String {
    let (rows, columns) = screen.size();
    let used = (0..rows.get()).rev().find(|row| !row_text(screen, *row).trim().is_empty());
    let rows = used.map_or(1, |row| row + 1);
    let width = f64::from(columns.get()) * CELL.0 + 2.0 * MARGIN;
    let height = f64::from(rows) * CELL.1 + 2.0 * MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.1} {height:.1}\" width=\"{width:.0}\" \
         font-family=\"ui-monospace, 'SF Mono', Menlo, Consolas, 'Noto Sans Mono CJK SC', monospace\" font-size=\"14\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n"
    );
    for row in 0..rows {
        for column in 0..columns.get() {
            if let Some(cell) = screen.cell(row, column).filter(|cell| cell.has_contents()) {
                draw(&mut out, cell, (row, column));
            }
        }
    }
    out + "</svg>\n"
}

fn row_text(screen: &Screen, row: u16) -> String {
    let (_, columns) = screen.size();
    screen.contents_between(row, 0, row, columns.get())
}

fn draw(out: &mut String, cell: &Cell, (row, column): (u16, u16)) {
    let (x, y) = (MARGIN + f64::from(column) * CELL.0, MARGIN + f64::from(row) * CELL.1);
    let text = color(cell.fgcolor()).unwrap_or(if cell.dim() { DIM } else { FOREGROUND });
    let wide = if cell.is_wide() { 2.0 } else { 1.0 };
    let text = if cell.inverse() {
        let width = CELL.0 * wide;
        out.push_str(&format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{}\" fill=\"{text}\"/>\n",
            CELL.1
        ));
        BACKGROUND
    } else {
        text
    };
    let letter = match cell.contents() {
        " " | "" => return,
        "<" => "&lt;",
        ">" => "&gt;",
        "&" => "&amp;",
        other => other,
    };
    let weight = if cell.bold() { " font-weight=\"bold\"" } else { "" };
    out.push_str(&format!(
        "<text x=\"{x:.1}\" y=\"{:.1}\" fill=\"{text}\"{weight}>{letter}</text>\n",
        y + 13.5
    ));
}

fn color(color: Color) -> Option<&'static str> {
    match color {
        Color::Idx(index) => PALETTE.get(usize::from(index)).copied(),
        Color::Default | Color::Rgb(..) => None,
    }
}
