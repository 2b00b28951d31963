//! Vectors in the ranking: they move, add and make sure, and are never believed more than the files.

use dormouse_memory::recall::{MemoryQuery, MemoryRanking, MemorySearch, RecallChoice};
use dormouse_search::{
    EmbedError, Embedder, EmbedderLocation, ModelFingerprint, VectorFillError, VectorUse,
    WritingScripts,
};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use dormouse_base::Clock;

use crate::world::World;

/// A model that knows what is about the sea, and what is about food.
struct Model {
    name: &'static str,
    reach: EmbedderLocation,
    dimension: usize,
    asked: AtomicUsize,
    trouble: Mutex<Option<EmbedError>>,
}

impl Model {
    fn new(name: &'static str, reach: EmbedderLocation) -> Arc<Self> {
        Self::of(name, reach, 3)
    }

    fn of(name: &'static str, reach: EmbedderLocation, dimension: usize) -> Arc<Self> {
        let (asked, trouble) = (AtomicUsize::new(0), Mutex::new(None));
        Arc::new(Self { name, reach, dimension, asked, trouble })
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Embedder for Model {
    fn fingerprint(&self) -> ModelFingerprint {
        ModelFingerprint::of(&[self.name])
    }

    fn location(&self) -> EmbedderLocation {
        self.reach
    }

    fn weight(&self) -> f64 {
        0.5
    }

    fn supports(&self, text: &str) -> bool {
        WritingScripts::default().cover(text)
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.asked.fetch_add(texts.len(), Ordering::SeqCst);
        if let Some(trouble) = &*self.trouble.lock().unwrap() {
            return Err(trouble.clone());
        }
        let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
        let vector = |text: &&str| {
            let mut vector = vec![0.05; self.dimension];
            vector[0] = if has(text, &["vessel", "ship", "quay"]) { 1.0 } else { 0.0 };
            vector[1] = if has(text, &["hungry", "nut", "larder"]) { 1.0 } else { 0.0 };
            vector
        };
        Ok(texts.iter().map(vector).collect())
    }
}

struct Sea {
    world: World,
}

impl Sea {
    fn new() -> Self {
        let world = World::new();
        world.write("harbour.md", "A ship lands at the east quay.\n");
        world.write("larder.md", "A nut in the larder.\n");
        world.write("cat.md", "她养了一只猫。\n");
        world.write("meeting.md", "The meeting is on Monday.\n");
        Self { world }
    }

    fn recall(&self, model: &Arc<Model>) -> MemorySearch {
        let cache = self.world.root.join("cache");
        let recall = MemorySearch::open(vec![Arc::new(self.world.store())], Some(&cache));
        recall.with_embedder(Arc::clone(model) as Arc<dyn Embedder>)
    }

    fn filled(&self, model: &Arc<Model>) -> MemorySearch {
        let recall = self.recall(model);
        recall.fill(self.world.clock.now(), usize::MAX).unwrap();
        recall
    }

    fn query<T>(&self, text: &str, run: impl FnOnce(&MemoryQuery<'_>) -> T) -> T {
        run(&MemoryQuery::new(text, 10, self.world.clock.now()))
    }

    fn ask(&self, recall: &MemorySearch, text: &str) -> MemoryRanking {
        self.query(text, |query| recall.query(query).unwrap())
    }

    fn search(&self, recall: &MemorySearch, text: &str) -> MemoryRanking {
        self.query(text, |query| recall.search(query).unwrap())
    }

    fn vectors(&self) -> PathBuf {
        let folder = fs::read_dir(self.world.root.join("cache/recall")).unwrap();
        folder.map(|entry| entry.unwrap().path().join("vectors")).next().unwrap()
    }
}

fn files(ranking: &MemoryRanking) -> Vec<&str> {
    ranking.hits.iter().map(|hit| hit.memory.file.as_str()).collect()
}

#[test]
fn a_memory_without_a_word_of_the_question_is_found() {
    let sea = Sea::new();
    let model = Model::new("m", EmbedderLocation::Local);
    let recall = sea.recall(&model);
    assert_eq!(files(&sea.ask(&recall, "vessels")), Vec::<&str>::new());
    assert!(matches!(sea.ask(&recall, "vessels").vectors, VectorUse::Unavailable(_)));
    let filled = recall.fill(sea.world.clock.now(), usize::MAX).unwrap();
    assert_eq!(
        (filled.documents, filled.with_vector, filled.new, filled.unsupported),
        (4, 3, 3, 1)
    );
    assert_eq!(filled.missing(), 0);
    let ranking = sea.ask(&recall, "where do vessels go");
    assert_eq!(files(&ranking).first(), Some(&"harbour.md"), "{ranking:?}");
    assert_eq!(ranking.vectors, VectorUse::Used(3));
    let nearness = ranking.hits[0].fused_rank.unwrap();
    assert_eq!((nearness.word_rank, nearness.vector_rank), (None, Some(1)));
    assert!(nearness.similarity > 0.9 && ranking.hits[0].matches.is_empty());
    // By far the most similar of all: shown without being asked for.
    assert_eq!(RecallChoice::of(ranking).sure.len(), 1);
    // A question in another language is ranked by words alone.
    let ranking = sea.ask(&recall, "when is the meeting on Monday");
    assert_eq!(RecallChoice::of(ranking).sure.len(), 1);
    let ranking = sea.ask(&recall, "猫");
    assert_eq!((files(&ranking), &ranking.vectors), (vec!["cat.md"], &VectorUse::Off));
}

#[test]
fn one_sentence_that_says_it_is_not_drowned_in_the_whole() {
    let sea = Sea::new();
    sea.world.write("both.md", "A nut was brought by a vessel.\n");
    sea.world.write("each.md", "A nut was eaten. A vessel arrived.\n");
    let model = Model::new("m", EmbedderLocation::Local);
    let ranking = sea.ask(&sea.filled(&model), "who is hungry");
    let similarity = |file: &str| {
        let hit = ranking.hits.iter().find(|hit| hit.memory.file.as_str() == file);
        hit.and_then(|hit| hit.fused_rank).map(|rank| rank.similarity)
    };
    let [both, each] = ["both.md", "each.md"].map(|file| similarity(file).unwrap());
    assert!((both - 0.707).abs() < 0.02 && (each - 0.854).abs() < 0.02, "{both} {each}");
}

#[test]
fn a_model_behind_a_network_is_never_asked_while_a_turn_waits() {
    let sea = Sea::new();
    let model = Model::new("m", EmbedderLocation::Remote);
    let recall = sea.filled(&model);
    let asked = model.asked();
    let ranking = sea.ask(&recall, "vessels");
    assert_eq!((files(&ranking), &ranking.vectors), (Vec::new(), &VectorUse::Off));
    assert_eq!(model.asked(), asked);
    assert_eq!(files(&sea.search(&recall, "vessels")).first(), Some(&"harbour.md"));
    assert_eq!(model.asked(), asked + 1);
    *model.trouble.lock().unwrap() = Some(EmbedError::Failed("the server is gone".to_owned()));
    let ranking = sea.search(&recall, "the quay of vessels");
    assert_eq!(files(&ranking), ["harbour.md"]);
    assert_eq!(ranking.vectors, VectorUse::Unavailable("the server is gone".to_owned()));
}

#[test]
fn vectors_are_of_the_files_as_they_are_and_of_one_model() {
    let sea = Sea::new();
    let model = Model::new("m", EmbedderLocation::Local);
    let recall = sea.filled(&model);
    let asked = model.asked();
    let fill = |recall: &MemorySearch| {
        recall.rescan(sea.world.clock.now()).unwrap();
        recall.fill(sea.world.clock.now(), usize::MAX).unwrap()
    };
    assert_eq!((fill(&recall).new, model.asked()), (0, asked));
    // Touched, but the same: the model is not asked again. Changed: the old vector is not used.
    let touched = sea.world.memory().join("harbour.md");
    fs::File::options()
        .write(true)
        .open(&touched)
        .unwrap()
        .set_modified(std::time::UNIX_EPOCH)
        .unwrap();
    sea.world.write("larder.md", "The larder is empty now, and painted green.\n");
    recall.rescan(sea.world.clock.now()).unwrap();
    assert_eq!(files(&sea.ask(&recall, "hungry people")), Vec::<&str>::new());
    let filled = fill(&recall);
    assert_eq!((filled.new, filled.with_vector), (1, 3));
    // The question, the memory as a whole, and its sentence.
    assert_eq!(model.asked(), asked + 3);
    fs::remove_file(&touched).unwrap();
    assert_eq!(fill(&recall).with_vector, 2);
    // Another model, or the same name with other vectors: all of them anew.
    let other = Model::new("another", EmbedderLocation::Local);
    assert!(matches!(sea.ask(&sea.recall(&other), "hungry").vectors, VectorUse::Unavailable(_)));
    assert_eq!(fill(&sea.recall(&other)).new, 2);
    let wider = Model::of("another", EmbedderLocation::Local, 5);
    let without = sea.ask(&sea.recall(&wider), "hungry").vectors;
    assert!(
        matches!(&without, VectorUse::Unavailable(why) if why.contains("the model has changed")),
        "{without:?}"
    );
    // Where nothing is missing the model is not asked, and so nobody knows; with the next memory all are made anew.
    assert_eq!(fill(&sea.recall(&wider)).new, 0);
    sea.world.write("mast.md", "The mast of a ship.\n");
    assert_eq!(fill(&sea.recall(&wider)).new, 3);
    assert_eq!(files(&sea.ask(&sea.recall(&wider), "hungry")).first(), Some(&"larder.md"));
    sea.recall(&wider).delete_vectors().unwrap();
    assert_eq!(fill(&sea.recall(&wider)).new, 3);
}

#[test]
fn the_vectors_are_a_cache() {
    let sea = Sea::new();
    let model = Model::new("m", EmbedderLocation::Local);
    let recall = sea.filled(&model);
    let path = sea.vectors();
    let whole = fs::read(&path).unwrap();
    for damaged in [&whole[..whole.len() / 2], b"", b"garbage"] {
        fs::write(&path, damaged).unwrap();
        assert_eq!(files(&sea.ask(&recall, "the quay")), ["harbour.md"]);
        assert_eq!(files(&sea.ask(&recall, "vessels")), Vec::<&str>::new());
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(files(&sea.ask(&recall, "the quay")), ["harbour.md"]);
    assert_eq!(recall.fill(sea.world.clock.now(), 2).unwrap().missing(), 1);
    assert_eq!(recall.fill(sea.world.clock.now(), 2).unwrap().missing(), 0);
    assert_eq!(files(&sea.ask(&recall, "vessels")).first(), Some(&"harbour.md"));
    let nowhere = MemorySearch::open(vec![Arc::new(sea.world.store())], None).with_embedder(model);
    assert!(matches!(nowhere.fill(sea.world.clock.now(), 1), Err(VectorFillError::NoCache)));
    assert_eq!(files(&sea.ask(&nowhere, "the quay")), ["harbour.md"]);
}

#[test]
fn what_was_made_before_a_failure_is_kept_and_one_process_makes_them_at_a_time() {
    let sea = Sea::new();
    for at in 0..70 {
        sea.world.write(&format!("ship-{at:02}.md"), &format!("The ship number {at}.\n"));
    }
    let model = Model::new("m", EmbedderLocation::Local);
    let recall = sea.recall(&model);
    let now = sea.world.clock.now();
    assert_eq!(recall.fill(now, 40).unwrap().new, 40);
    *model.trouble.lock().unwrap() = Some(EmbedError::Failed("gone".to_owned()));
    assert!(matches!(recall.fill(now, usize::MAX), Err(VectorFillError::Embed(_))));
    assert_eq!(recall.count_vectors(now).unwrap().with_vector, 40);
    *model.trouble.lock().unwrap() = None;
    let all: Vec<usize> = std::thread::scope(|scope| {
        let fill = || sea.recall(&model).fill(now, usize::MAX).unwrap();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(fill)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap().new).collect()
    });
    assert_eq!(all.iter().sum::<usize>(), 33, "{all:?}");
    assert_eq!(recall.count_vectors(now).unwrap().missing(), 0);
}

/// What waits for the user is shown to no model, and so not given to one either (M-17).
#[test]
fn what_is_in_quarantine_gets_no_vector() {
    let sea = Sea::new();
    sea.world.write("trap.md", "---\nname: Trap\nquarantined: true\n---\nA ship.\n");
    let model = Model::new("m", EmbedderLocation::Local);
    let recall = sea.recall(&model);
    let filled = recall.fill(sea.world.clock.now(), usize::MAX).unwrap();
    let there = recall.count_vectors(sea.world.clock.now()).unwrap();
    assert_eq!((filled.documents, there.documents), (4, 4), "{filled:?}");
    assert!(!files(&sea.ask(&recall, "vessels")).contains(&"trap.md"));
}
