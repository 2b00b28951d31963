//! Uploads of a bounded size (T-6).

use crate::limits::LONGEST_UPLOAD;

/// Splits entries into uploads of at most [`LONGEST_UPLOAD`] bytes, in the given order. A larger entry goes alone. Each
/// upload is complete in itself, so a break between two of them is harmless.
pub fn uploads<T>(entries: Vec<(T, usize)>) -> Vec<Vec<T>> {
    let mut all = Vec::new();
    let mut upload = Vec::new();
    let mut size = 0;
    for (entry, bytes) in entries {
        if !upload.is_empty() && size + bytes > LONGEST_UPLOAD {
            all.push(std::mem::take(&mut upload));
            size = 0;
        }
        upload.push(entry);
        size += bytes;
    }
    if !upload.is_empty() {
        all.push(upload);
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn uploads_are_bounded_and_keep_the_order(sizes in prop::collection::vec(1..260_000_usize, 0..30)) {
            let entries: Vec<_> = sizes.iter().copied().enumerate().collect();
            let all = uploads(entries);
            let order: Vec<usize> = all.iter().flatten().copied().collect();
            prop_assert_eq!(order, (0..sizes.len()).collect::<Vec<_>>());
            for upload in &all {
                let bytes: usize = upload.iter().map(|at| sizes[*at]).sum();
                prop_assert!(bytes <= LONGEST_UPLOAD || upload.len() == 1);
            }
            for pair in all.windows(2) {
                let next = sizes[pair[1][0]];
                let bytes: usize = pair[0].iter().map(|at| sizes[*at]).sum();
                prop_assert!(bytes + next > LONGEST_UPLOAD, "the two would have fit into one");
            }
        }
    }
}
