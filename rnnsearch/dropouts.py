"""All dropout of a model, to be turned up together."""

from torch import nn


class Dropouts:
    """What a model drops out, each place with its own probability.

    With all of it from the start an attention learns much later where to look; see README.

    Args:
        model: its probabilities now are those of share 1.
    """

    def __init__(self, model: nn.Module) -> None:
        self._places: list[tuple[nn.Module, str, float]] = []
        for module in model.modules():
            if isinstance(module, nn.Dropout):
                self._places.append((module, "p", module.p))
            elif isinstance(module, nn.MultiheadAttention):
                self._places.append((module, "dropout", module.dropout))

    def scale(self, share: float) -> None:
        """Set every probability to a share, from 0 to 1, of its own."""
        for module, name, probability in self._places:
            setattr(module, name, share * probability)
