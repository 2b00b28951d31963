//! The secret rules on the fuzz corpus and on this project's own documents.

use dormouse_secrets::{kinds, redact, scan};

/// The committed corpus of the fuzz target, as an ordinary test.
#[test]
fn the_fuzz_corpus_scans() {
    let corpus =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/secret_scan");
    let mut files = 0;
    let mut found = 0;
    for entry in corpus.read_dir().unwrap() {
        files += 1;
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let findings = scan(&text);
        found += findings.len();
        assert!(findings.iter().all(|finding| text.get(finding.span.clone()).is_some()));
        assert_eq!(redact(&text).1, findings);
    }
    assert!(files >= 3 && found >= 4, "{files} files, {found} secrets");
}

/// The program's own documents hold no secrets; otherwise they could not be saved as memories.
#[test]
fn our_own_documents_have_none() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for folder in [root.clone(), root.join("docs")] {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let findings = scan(&std::fs::read_to_string(&path).unwrap());
                assert_eq!(findings, [], "{}", path.display());
            }
        }
    }
    assert!(kinds().all(|(name, what)| scan(&format!("{name}: {what}")).is_empty()));
}
