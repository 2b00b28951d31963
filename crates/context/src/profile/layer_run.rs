//! One run of a layer, as the session had it.

use dormouse_base::LayerSwitch;

/// A layer has acted in the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LayerRun {
    pub(super) layer: LayerSwitch,
    /// Tokens that it freed, estimated as the layer did.
    pub(super) freed: u64,
    /// Whether it changed what had been sent before.
    pub(super) prefix_changed: bool,
}
