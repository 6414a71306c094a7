"""neuronxcc.nki.typing: what a parameter is."""


class mutable_tensor:
    """The kernel writes it."""
