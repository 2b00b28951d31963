//! Vectors, what is kept of them, word files: whole, damaged and of another model.

#![expect(clippy::disallowed_methods, reason = "tests damage files")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use dormouse_base::{Dir, RelPath};

use super::vector::VectorBytes;
use super::vector_file::VectorRow;
use super::*;

fn vector(values: &[f32]) -> Vector {
    Vector::new(values).unwrap()
}

#[test]
fn only_what_points_somewhere_is_a_vector() {
    for values in [&[][..], &[0.0, 0.0], &[1.0, f32::NAN], &[f32::INFINITY, 1.0]] {
        assert_eq!(Vector::new(values), None, "{values:?}");
    }
    let steps: Vec<u8> = vector(&[0.6, 0.8]).bytes().collect();
    let same = VectorBytes { steps: &steps, length: vector(&[0.6, 0.8]).length() };
    assert!((vector(&[3.0, 4.0]).similarity(same) - 1.0).abs() < 0.01);
    assert!(vector(&[-0.8, 0.6]).similarity(same).abs() < 0.01);
    assert!(vector(&[1.0, 0.0, 0.0]).similarity(same).abs() < f64::EPSILON);
}

#[test]
fn what_a_model_gives_is_looked_at() {
    let given = |answer: &[&[f32]], asked, dimension| {
        check_vectors(answer.iter().map(|values| values.to_vec()).collect(), asked, dimension)
    };
    assert_eq!(given(&[&[1.0, 2.0], &[2.0, 1.0]], 2, None).unwrap().len(), 2);
    assert_eq!(given(&[&[1.0]], 2, None), Err(EmbedError::Count { asked: 2, got: 1 }));
    assert_eq!(
        given(&[&[1.0, 2.0], &[1.0]], 2, None),
        Err(EmbedError::Dimension { expected: 2, got: 1 })
    );
    assert_eq!(
        given(&[&[1.0, 2.0]], 1, Some(3)),
        Err(EmbedError::Dimension { expected: 3, got: 2 })
    );
    assert_eq!(given(&[&[f32::NAN, 2.0]], 1, None), Err(EmbedError::NoDirection));
    assert_eq!(given(&[&[]], 1, None), Err(EmbedError::NoDirection));
}

#[test]
fn a_script_that_is_not_known_is_seen() {
    let latin = WritingScripts::default();
    for (text, known) in [
        ("which port do the tests use", true),
        ("Straße nach Málaga", true),
        ("数据库用 PostgreSQL 存储", false),
        ("用户养了一只猫", false),
        ("the word 猫 is Chinese", true),
        ("что это", false),
        ("12 + 34", false),
        ("", false),
    ] {
        assert_eq!(latin.cover(text), known, "{text}");
    }
    let both =
        WritingScripts::of(&[dormouse_base::TextScript::Latin, dormouse_base::TextScript::Han]);
    assert!(both.cover("数据库用 PostgreSQL 存储") && !both.cover("что это"));
}

fn rows() -> BTreeMap<String, VectorRow> {
    let row = |at: i64, vectors| VectorRow {
        stamp: FileStamp { modified: at, size: 7 },
        text: [u8::try_from(at).unwrap(); 16],
        vectors,
    };
    [
        ("a.md".to_owned(), row(1, vec![vector(&[1.0, 0.5, 0.0]), vector(&[0.5, 1.0, 0.0])])),
        ("b/c.md".to_owned(), row(2, Vec::new())),
        ("d.md".to_owned(), row(3, vec![vector(&[0.0, -1.0, 0.0])])),
    ]
    .into()
}

#[test]
fn what_is_kept_comes_back_or_nothing_does() {
    let home = tempfile::tempdir().unwrap();
    let file = VectorFile::new(Dir::open(home.path()).unwrap());
    let ours = ModelFingerprint::of(&["a model"]);
    assert!(file.read(ours).is_none());
    file.write(&rows(), ours).unwrap();
    let back: BTreeMap<String, VectorRow> =
        file.read(ours).unwrap().rows().map(|row| (row.file.to_owned(), row.to_row())).collect();
    assert_eq!(back, rows());
    let read = |fingerprint| VectorFile::new(Dir::open(home.path()).unwrap()).read(fingerprint);
    assert!(read(ModelFingerprint::of(&["another"])).is_none());
    assert!(read(ModelFingerprint::of(&["a mo", "del"])).is_none());
    let path = home.path().join("vectors");
    let whole = std::fs::read(&path).unwrap();
    for place in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[place] ^= 1;
        std::fs::write(&path, &damaged).unwrap();
        assert!(read(ours).is_none(), "byte {place}");
        std::fs::write(&path, &whole[..place]).unwrap();
        assert!(read(ours).is_none(), "cut at {place}");
    }
    std::fs::write(&path, &whole).unwrap();
    assert!(read(ours).is_some());
}

struct WordFile {
    home: tempfile::TempDir,
}

impl WordFile {
    fn new(text: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("words.vec"), text).unwrap();
        Self { home }
    }

    fn path(&self) -> PathBuf {
        self.home.path().join("words.vec")
    }

    fn open(&self) -> Result<WordVectors, WordFileError> {
        WordVectors::open(&self.path(), self.home.path())
    }

    fn prepare(&self) -> Result<PreparedWordVectors, WordFileError> {
        WordVectors::prepare(&self.path(), self.home.path())
    }
}

const WORDS: &str = "7 3\nthe 0.1 0.1 0.1\nship 1 0 0\nBoat 0.9 0.1 0\nquay 0.7 0.3 0\nnut 0 0 1\n\
    猫 1 1 1\n数据库 0 1 0\nnew york 1 2 3\n, 9 9 9\n";

#[test]
fn a_text_is_the_mean_of_its_words() {
    let file = WordFile::new(WORDS);
    assert!(matches!(file.open(), Err(WordFileError::NotPrepared(_))));
    let prepared = file.prepare().unwrap();
    assert_eq!((prepared.words, prepared.dimension), (7, 3));
    let words = file.open().unwrap();
    let of = |text: &str| vector(&words.embed(&[text]).unwrap()[0]);
    let near = |a: &str, b: &str| {
        let (a, b) = (of(a), of(b));
        let steps: Vec<u8> = b.bytes().collect();
        a.similarity(VectorBytes { steps: &steps, length: b.length() })
    };
    assert!(near("the ship", "a boat at the quay") > 0.8);
    assert!(near("the ship", "nut") < 0.2);
    for (text, known) in [
        ("The SHIP, the boat", true),
        ("shipBoat", true),
        ("a ship of unknown words throughout here", false),
        ("数据库", true),
        ("数据库迁移很慢先备份", false),
        ("猫猫猫猫", false),
        ("", false),
    ] {
        assert_eq!(words.supports(text), known, "{text}");
    }
}

#[test]
fn word_vectors_that_changed_are_prepared_anew() {
    let file = WordFile::new(WORDS);
    file.prepare().unwrap();
    let before = file.open().unwrap().fingerprint();
    std::fs::write(file.path(), format!("{WORDS}mast 1 0 0.5\n")).unwrap();
    assert!(matches!(file.open(), Err(WordFileError::NotPrepared(_))));
    file.prepare().unwrap();
    assert_ne!(file.open().unwrap().fingerprint(), before);
    let folder = Dir::open(file.home.path().join("words")).unwrap();
    let name = folder.names().unwrap().pop().unwrap();
    let whole = folder.read(&RelPath::new(&name).unwrap()).unwrap();
    for damaged in [&whole[..50], &whole[..whole.len() - 1], b""] {
        folder.replace(&RelPath::new(&name).unwrap(), damaged).unwrap();
        assert!(matches!(file.open(), Err(WordFileError::NotPrepared(_))));
    }
}

#[test]
fn what_is_wrong_with_a_line_is_said() {
    for (text, problem) in [
        ("", "line 1: no words in the file"),
        ("ship one two\n", "line 1: not all values after the word are numbers"),
        ("ship 1 2\nboat 1\n", "line 2: 1 numbers, expected 2"),
        ("ship 1 2\nboat 1 NaN\n", "line 2: a value is not a finite number"),
    ] {
        let error = WordFile::new(text).prepare().unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    let gone = WordVectors::prepare(&PathBuf::from("/nowhere/words.vec"), &std::env::temp_dir());
    assert!(gone.is_err());
}
