//! The project that the session works on: sources of many sizes, logs, pictures, the same in every run.

use dormouse_testkit::TestHome;

use crate::generate::Dice;

/// Sources of 1 to 14 kB.
pub(super) const MODULES: usize = 120;
/// Sources of 80 to 150 kB.
pub(super) const LARGE: usize = 6;
/// Logs of 60 to 160 kB.
pub(super) const LOGS: usize = 8;
pub(super) const PICTURES: usize = 12;
/// How wide and high a picture is: about 1,600 tokens, as a server would count a screenshot.
const SIDE: u16 = 40;

pub(super) fn module(number: usize) -> String {
    format!("src/module_{number:03}.rs")
}

pub(super) fn large(number: usize) -> String {
    format!("src/large_{number}.rs")
}

pub(super) fn log(number: usize) -> String {
    format!("logs/run_{number}.log")
}

pub(super) fn picture(number: usize) -> String {
    format!("shots/shot_{number}.png")
}

/// Writes all of it.
pub(super) fn make(home: &TestHome) {
    let mut dice = Dice(11);
    for number in 0..MODULES {
        let bytes = dice.between((1_000, 14_000));
        home.write(module(number), source(&mut dice, number, bytes));
    }
    for number in 0..LARGE {
        let bytes = dice.between((80_000, 150_000));
        home.write(large(number), source(&mut dice, number, bytes));
    }
    for number in 0..LOGS {
        let bytes = dice.between((60_000, 160_000));
        home.write(log(number), dice.listing(bytes));
    }
    for number in 0..PICTURES {
        home.write(picture(number), png(&mut dice));
    }
    home.git_init();
}

fn source(dice: &mut Dice, number: usize, bytes: usize) -> String {
    format!("// revision 0\n// Module {number} of the made-up project.\n{}", dice.listing(bytes))
}

/// A picture of noise, its data stored as it is.
fn png(dice: &mut Dice) -> Vec<u8> {
    // A row is a filter byte and three bytes a pixel.
    let mut row = || {
        let pixels = (0..SIDE * 3).map(|_| dice.next().to_le_bytes()[0]);
        std::iter::once(0).chain(pixels).collect::<Vec<u8>>()
    };
    let rows: Vec<u8> = (0..SIDE).flat_map(|_| row()).collect();
    let length = u16::try_from(rows.len()).expect("a small picture");
    let mut data = vec![0x78, 0x01, 1];
    data.extend(length.to_le_bytes());
    data.extend((!length).to_le_bytes());
    data.extend(&rows);
    data.extend(adler(&rows).to_be_bytes());
    let side = u32::from(SIDE).to_be_bytes();
    let header = [side.as_slice(), &side, &[8, 2, 0, 0, 0]].concat();
    let mut picture = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, body) in [(b"IHDR", header), (b"IDAT", data), (b"IEND", Vec::new())] {
        let length = u32::try_from(body.len()).expect("a small picture");
        let chunk = [kind.as_slice(), &body].concat();
        picture.extend(length.to_be_bytes());
        picture.extend(&chunk);
        picture.extend(crc(&chunk).to_be_bytes());
    }
    picture
}

fn adler(data: &[u8]) -> u32 {
    let (a, b) = data.iter().fold((1_u32, 0_u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    b << 16 | a
}

fn crc(data: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !data.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
}
