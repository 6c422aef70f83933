"""A network's outputs by name: what it gives, what it is to give, and the losses of each."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from .call import array, numbers, plain
from .padding import padded_targets

Outputs = Union[np.ndarray, Dict[str, np.ndarray], Tuple[np.ndarray, ...]]


def outputs_of(info: Dict[str, Any]) -> List[Dict[str, Any]]:
    """The parts of what a network gives: none where it has one output."""
    return info["output"].get("parts", [])  # type: ignore[no-any-return]


def names_of(info: Dict[str, Any]) -> List[str]:
    return [part["name"] for part in outputs_of(info)]


def counted(names: Sequence[str]) -> bool:
    """Whether outputs are a list: their names are "0", "1", ..., as Model gives a list of them."""
    return list(names) == ["%d" % i for i in range(len(names))]


def split(y: np.ndarray, info: Dict[str, Any]) -> Outputs:
    """What a network gives, of the shape (..., width), by its outputs: views. A tuple where they
    are a list, y where it has one."""
    parts = outputs_of(info)
    if not parts:
        return y
    ends = np.cumsum([part["width"] for part in parts])
    views = [
        v.reshape(v.shape[:-1] + tuple(part.get("dims", (part["width"],))))
        for v, part in zip(np.split(y, ends[:-1], axis=-1), parts)
    ]
    names = names_of(info)
    return tuple(views) if counted(names) else dict(zip(names, views))


def joined(given: Outputs, rows: int) -> np.ndarray:
    """What split() cut, as (rows, width) in float64."""
    if isinstance(given, np.ndarray):
        given = (given,)
    parts = given.values() if isinstance(given, dict) else given
    return np.concatenate([part.reshape(rows, -1) for part in parts], axis=1).astype(np.float64)


def by_name(what: str, given: Any, names: Sequence[str]) -> Dict[str, Any]:
    """A value for each output: of a dict by their names, or of a list in their order."""
    if isinstance(given, (list, tuple)) and len(given) == len(names):
        return dict(zip(names, given))
    if not isinstance(given, dict):
        raise TypeError(
            "%s: the network has the outputs %s: give a dict of them, or a list in "
            "this order" % (what, ", ".join(names))
        )
    wrong = [key for key in given if key not in names] or [key for key in names if key not in given]
    if wrong:
        raise TypeError(
            "%s: %r is %s: expects one for each of %s"
            % (
                what,
                wrong[0],
                "missing" if wrong[0] in names else "no output of the network",
                ", ".join(names),
            )
        )
    return dict(given)


def places_of(info: Dict[str, Any]) -> Tuple[int, ...]:
    """The dimensions of a row's output that have a class each: all but that of the classes, which
    is the last, or, behind a convolution, the first."""
    gives = info["output"]
    dims = tuple(gives.get("dims", ())) if info["version"] > 1 else ()
    return dims[1:] if gives.get("axis") == "channels" else dims[:-1]


def targets_of(
    y: Any, loss: Optional[str], info: Dict[str, Any], name: str = "y", ignore: int = -100
) -> np.ndarray:
    """int32 classes, one for each place of a row, or rows of float32 or float64. Classes of
    sequences of unequal length are `ignore` behind their ends."""
    if isinstance(y, dict):
        raise TypeError("%s: the network has one output: give the array of its targets" % name)
    places = places_of(info)
    y = padded_targets(y, places, info["input"], ignore, name)
    labels = np.asarray(y)
    if labels.dtype.kind in "US":
        raise TypeError("%s: expects whole numbers, got an array of %s: "
                        "np.unique(labels, return_inverse=True)[1] is one" % (name, labels.dtype))
    y = plain(y, name)
    whole = np.issubdtype(y.dtype, np.integer)
    by_place = (
        y.ndim > 0 and y.size == len(y) * int(np.prod(places)) and (y.ndim == 1 or bool(places))
    )
    if by_place and (loss == "cross_entropy" or (loss is None and whole)):
        return array(y.reshape((len(y), -1) if places else -1), np.int32, name)
    if loss == "cross_entropy" or (loss is None and whole and places):
        wanted = ", ".join(["samples", *("%d" % d for d in places)])
        raise ValueError(
            "%s: expects classes of the shape (%s), got the shape %s" % (name, wanted, y.shape)
        )
    return flat(y, name)


def flat(y: Any, name: str = "y") -> np.ndarray:
    y = numbers(y, name)
    return y.reshape(len(y), int(np.prod(y.shape[1:]))) if y.ndim > 0 else y.reshape(1, 1)


def joined_targets(
    y: Any, heads: List[Dict[str, Any]], info: Dict[str, Any], ignore: int = -100
) -> np.ndarray:
    """Targets of each output side by side, as data of heads have them: a number for each
    class. Fills in the loss of heads which have none: cross_entropy for integers, mse for values.
    """
    given = by_name("y", y, names_of(info))
    if any(head.get("same_columns") for head in heads):
        raise TypeError(
            "heads: several losses of one output are for a network that has one output: here give "
            "each output a head"
        )
    if [head.get("name") for head in heads] != names_of(info):
        raise TypeError(
            "heads: the network has the outputs %s: give a head for each, by its name "
            "and in this order" % ", ".join(names_of(info))
        )
    rows: List[np.ndarray] = []
    for part, head in zip(outputs_of(info), heads):
        name = part["name"]
        gives = {**info, "output": part}
        one = targets_of(given[name], head.get("loss"), gives, "y[%r]" % name, ignore)
        head.setdefault("loss", "cross_entropy" if one.dtype == np.int32 else "mse")
        one = one.reshape(len(one), -1)
        if one.dtype != np.int32 and one.shape[1] != part["width"]:
            raise ValueError(
                "y[%r]: expects %d values for each sample, got %d"
                % (name, part["width"], one.shape[1])
            )
        if rows and len(one) != len(rows[0]):
            raise ValueError(
                "y: %r has %d samples and %r %d" % (names_of(info)[0], len(rows[0]), name, len(one))
            )
        if one.dtype == np.int32 and one.size and np.abs(one.astype(np.int64)).max() > 1 << 24:
            raise ValueError(
                "y[%r]: classes are below 2^24, got %d"
                % (name, one.reshape(-1)[np.abs(one.astype(np.int64)).argmax()])
            )
        rows.append(one.astype(np.float32) if one.dtype == np.int32 else one)
    return np.concatenate(rows, axis=1)


def heads_of(info: Dict[str, Any], loss: Any, weights: Any) -> List[Dict[str, Any]]:
    """The heads of a spec, in the order of the outputs. `loss`: of all, or of each by name or in
    order, None where y says it; `weights`: of each."""
    names = names_of(info)
    one = loss is None or isinstance(loss, str)
    losses = dict.fromkeys(names, loss) if one else by_name("loss", loss, names)
    heads: List[Dict[str, Any]] = [{"name": name} for name in names]
    for head in heads:
        if losses[head["name"]] is not None:
            head["loss"] = losses[head["name"]]
    if weights is not None:
        for name, weight in by_name("loss_weights", weights, names).items():
            heads[names.index(name)]["weight"] = float(weight)
    return heads


def judge(
    out: np.ndarray, y: np.ndarray, weights: np.ndarray, info: Dict[str, Any], spec: Dict[str, Any]
) -> Dict[str, float]:
    """The loss of a spec, or of a head, in f64, by weights; and the accuracy of classes. out:
    (rows, dimensions of the output); y: targets as targets_of gives them."""
    loss, w = spec.get("loss", "mse"), weights
    if loss == "cross_entropy":
        if places_of(info):
            out = np.moveaxis(out, 1, -1) if info["output"].get("axis") == "channels" else out
            w = np.repeat(w, y.size // len(y))
            out, y = out.reshape(-1, out.shape[-1]), y.reshape(-1)
        counts = y != spec["ignore"]
        out, y, w = out[counts], y[counts], w[counts]
        if "class_weights" in spec:
            w = w * np.asarray(spec["class_weights"])[y]
        out = out - out.max(axis=1, keepdims=True)
        right = out[np.arange(len(y)), y]
        return {
            "loss": _mean(np.log(np.exp(out).sum(axis=1)) - right, w),
            "accuracy": float((out.argmax(axis=1) == y).mean()),
        }
    if loss == "soft_cross_entropy":
        return _judge_soft(out, y, w, info, spec.get("temperature", 1.0))
    out = out.reshape(len(out), -1)
    d = out - y
    if loss == "mae":
        return {"loss": _mean(np.abs(d).mean(axis=1), w)}
    if loss == "huber":
        delta = spec.get("delta", 1.0)
        terms = np.where(np.abs(d) <= delta, d * d / 2, delta * (np.abs(d) - delta / 2))
        return {"loss": _mean(terms.mean(axis=1), w)}
    if loss == "bce":
        return {
            "loss": _mean((np.logaddexp(0, out) - y * out).mean(axis=1), w),
            "accuracy": float(((out > 0) == (y > 0.5)).mean()),
        }
    return {"loss": _mean((d * d).mean(axis=1), w)}


def _judge_soft(
    out: np.ndarray, y: np.ndarray, weights: np.ndarray, info: Dict[str, Any], t: float
) -> Dict[str, float]:
    """Of probabilities for each class, of which the largest is the right one."""
    p = y.reshape(out.shape).astype(np.float64)
    if places_of(info) and info["output"].get("axis") == "channels":
        out, p = np.moveaxis(out, 1, -1), np.moveaxis(p, 1, -1)
    right = float((out.argmax(axis=-1) == p.argmax(axis=-1)).mean())
    out = (out - out.max(axis=-1, keepdims=True)) / t
    logs = out - np.log(np.exp(out).sum(axis=-1, keepdims=True))
    terms = -np.where(p != 0, p * logs, 0.0).sum(axis=-1) * t * t
    return {"loss": _mean(terms.reshape(len(y), -1).mean(axis=1), weights), "accuracy": right}


def judge_heads(
    out: np.ndarray, y: np.ndarray, weights: np.ndarray, info: Dict[str, Any], spec: Dict[str, Any]
) -> Dict[str, float]:
    """The same of a spec with heads: their sum, and each by its name. out: (rows, width)."""
    parts = {part["name"]: part for part in outputs_of(info)}
    judged: Dict[str, float] = {"loss": 0.0}
    column = target = 0
    part: Dict[str, Any] = {}
    for i, head in enumerate(spec["heads"]):
        if head.get("same_columns"):
            column -= part["width"]
        else:
            part = parts.get(head.get("name"), {"width": head.get("columns")})
        gives = {**info, "output": part}
        classes = head.get("loss") == "cross_entropy"
        count = int(np.prod(places_of(gives))) if classes else part["width"]
        mine = out[:, column : column + part["width"]]
        mine = mine.reshape(len(out), *part.get("dims", (part["width"],)))
        wanted = y[:, target : target + count]
        if classes:
            wanted = wanted.astype(np.int32) if places_of(gives) else wanted[:, 0].astype(np.int32)
        of_head = judge(mine, wanted, weights, gives, {**head, "ignore": spec["ignore"]})
        judged["loss"] += head.get("weight", 1.0) * of_head["loss"]
        name = head.get("name", "%d" % i)
        judged.update(("%s_%s" % (name, key), value) for key, value in of_head.items())
        column, target = column + part["width"], target + count
    return judged


def _mean(losses: np.ndarray, weights: np.ndarray) -> float:
    return float((losses * weights).sum() / weights.sum())
