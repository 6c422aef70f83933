"""What a bridge refuses."""
from __future__ import annotations


class Unmapped(ValueError):
    """Something of a model that no layer of Loom computes, or not exactly: `where` names the module
    or the layer ("encoder.layers.0.attn"), `operator` what it is there ("aten.fft_fft")."""

    def __init__(self, where: str, operator: str, why: str = "") -> None:
        self.where, self.operator, self.why = where, operator, why
        super().__init__("%s: %s is not mapped%s" % (where or "the model", operator,
                                                     ": " + why if why else ""))
