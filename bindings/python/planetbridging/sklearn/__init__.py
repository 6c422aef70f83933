"""Models of scikit-learn as networks of Loom, by the attributes of fitted estimators.

    from planetbridging.sklearn import from_sklearn
    absorbed = from_sklearn(pipeline)
    absorbed.predict(x)       # as pipeline.predict(x)
    absorbed.save("model.entity")

The network's outputs are numbers: probabilities, decisions or values. Names of classes come along
in `metadata`.
"""
from .absorb import SklearnModel, from_sklearn

__all__ = ["SklearnModel", "from_sklearn"]
