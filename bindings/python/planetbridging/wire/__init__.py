"""Weights over HTTP into ``loom bridge``: the standard library alone, nothing pickled.

    from planetbridging import wire

    wire.push("http://127.0.0.1:9876", token, topology,
              [("0.0.0.0:weight", "f32", (8, 4), weights)], name="net")

docs/reference/bridge.md has the protocol.
"""
from .client import Bridge, BridgeError, Pushed, push, push_weights
from .pushing import Pushing

__all__ = ["Bridge", "BridgeError", "Pushed", "Pushing", "push", "push_weights"]
