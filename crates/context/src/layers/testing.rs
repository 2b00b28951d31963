//! Messages for the tests of this folder.
