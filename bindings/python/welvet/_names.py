"""Settings whose names PyTorch has otherwise than a topology: tools/generate reads this too."""
_OF_ALL = {"global": "global_pool", "filters": "out_channels", "kernel": "kernel_size"}
_OF_ONE = {("rnn", "hidden"): "hidden_size", ("gru", "hidden"): "hidden_size",
           ("lstm", "hidden"): "hidden_size", ("group_norm", "groups"): "num_groups",
           ("dropout", "rate"): "p"}


def spelled(kind: str, key: str) -> str:
    """The name in Python of a setting `key` of the layer type `kind`."""
    return _OF_ONE.get((kind, key), _OF_ALL.get(key, key))
