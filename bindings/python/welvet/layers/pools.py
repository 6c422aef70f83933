"""Pools, channels first.

Made by tools/generate from the field lists in src: edit those.
"""
from __future__ import annotations

from typing import Optional, Sequence

from ._base import Layer, Size, checked


class MaxPool1d(Layer):
    """The largest value of each window of (channels, length), (channels, height, width) or
    (channels, depth, height, width).

    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; None: the kernel.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then all
      ends; at least 0.
    * `dilation`: step between the taps of the window; at least 1.
    * `return_indices`: only False: there is no unpooling that takes them.
    * `ceil_mode`: a last window that is partly outside counts too.
    """

    kernel_size: Size
    stride: Optional[Size]
    padding: Size
    dilation: Size
    return_indices: bool
    ceil_mode: bool
    _kind = "max_pool1d"

    @checked
    def __init__(self, kernel_size: Size, stride: Optional[Size] = None, padding: Size = 0,
                 dilation: Size = 1, return_indices: bool = False, ceil_mode: bool = False, *,
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("max_pool1d", {
            "kernel": kernel_size, "stride": stride, "padding": padding, "dilation": dilation,
            "ceil_mode": ceil_mode},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class MaxPool2d(Layer):
    """The largest value of each window of (channels, length), (channels, height, width) or
    (channels, depth, height, width).

    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; None: the kernel.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then all
      ends; at least 0.
    * `dilation`: step between the taps of the window; at least 1.
    * `return_indices`: only False: there is no unpooling that takes them.
    * `ceil_mode`: a last window that is partly outside counts too.
    """

    kernel_size: Size
    stride: Optional[Size]
    padding: Size
    dilation: Size
    return_indices: bool
    ceil_mode: bool
    _kind = "max_pool2d"

    @checked
    def __init__(self, kernel_size: Size, stride: Optional[Size] = None, padding: Size = 0,
                 dilation: Size = 1, return_indices: bool = False, ceil_mode: bool = False, *,
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("max_pool2d", {
            "kernel": kernel_size, "stride": stride, "padding": padding, "dilation": dilation,
            "ceil_mode": ceil_mode},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class MaxPool3d(Layer):
    """The largest value of each window of (channels, length), (channels, height, width) or
    (channels, depth, height, width).

    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; None: the kernel.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then all
      ends; at least 0.
    * `dilation`: step between the taps of the window; at least 1.
    * `return_indices`: only False: there is no unpooling that takes them.
    * `ceil_mode`: a last window that is partly outside counts too.
    """

    kernel_size: Size
    stride: Optional[Size]
    padding: Size
    dilation: Size
    return_indices: bool
    ceil_mode: bool
    _kind = "max_pool3d"

    @checked
    def __init__(self, kernel_size: Size, stride: Optional[Size] = None, padding: Size = 0,
                 dilation: Size = 1, return_indices: bool = False, ceil_mode: bool = False, *,
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("max_pool3d", {
            "kernel": kernel_size, "stride": stride, "padding": padding, "dilation": dilation,
            "ceil_mode": ceil_mode},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class AvgPool1d(Layer):
    """The mean of each window of (channels, length), (channels, height, width) or (channels,
    depth, height, width).

    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; None: the kernel.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then all
      ends; at least 0.
    * `ceil_mode`: a last window that is partly outside counts too.
    * `count_include_pad`: padding counts in the divisor.
    * `dilation`: step between the taps of the window; at least 1.
    """

    kernel_size: Size
    stride: Optional[Size]
    padding: Size
    ceil_mode: bool
    count_include_pad: bool
    dilation: Size
    _kind = "avg_pool1d"

    @checked
    def __init__(self, kernel_size: Size, stride: Optional[Size] = None, padding: Size = 0,
                 ceil_mode: bool = False, count_include_pad: bool = True, *, dilation: Size = 1,
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("avg_pool1d", {
            "kernel": kernel_size, "stride": stride, "padding": padding, "ceil_mode": ceil_mode,
            "count_include_pad": count_include_pad, "dilation": dilation},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class AvgPool2d(Layer):
    """The mean of each window of (channels, length), (channels, height, width) or (channels,
    depth, height, width).

    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; None: the kernel.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then all
      ends; at least 0.
    * `ceil_mode`: a last window that is partly outside counts too.
    * `count_include_pad`: padding counts in the divisor.
    * `divisor_override`: only None: leave it out.
    * `dilation`: step between the taps of the window; at least 1.
    """

    kernel_size: Size
    stride: Optional[Size]
    padding: Size
    ceil_mode: bool
    count_include_pad: bool
    divisor_override: Optional[int]
    dilation: Size
    _kind = "avg_pool2d"

    @checked
    def __init__(self, kernel_size: Size, stride: Optional[Size] = None, padding: Size = 0,
                 ceil_mode: bool = False, count_include_pad: bool = True,
                 divisor_override: Optional[int] = None, *, dilation: Size = 1,
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("avg_pool2d", {
            "kernel": kernel_size, "stride": stride, "padding": padding, "ceil_mode": ceil_mode,
            "count_include_pad": count_include_pad, "dilation": dilation},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class AvgPool3d(Layer):
    """The mean of each window of (channels, length), (channels, height, width) or (channels,
    depth, height, width).

    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; None: the kernel.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then all
      ends; at least 0.
    * `ceil_mode`: a last window that is partly outside counts too.
    * `count_include_pad`: padding counts in the divisor.
    * `divisor_override`: only None: leave it out.
    * `dilation`: step between the taps of the window; at least 1.
    """

    kernel_size: Size
    stride: Optional[Size]
    padding: Size
    ceil_mode: bool
    count_include_pad: bool
    divisor_override: Optional[int]
    dilation: Size
    _kind = "avg_pool3d"

    @checked
    def __init__(self, kernel_size: Size, stride: Optional[Size] = None, padding: Size = 0,
                 ceil_mode: bool = False, count_include_pad: bool = True,
                 divisor_override: Optional[int] = None, *, dilation: Size = 1,
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("avg_pool3d", {
            "kernel": kernel_size, "stride": stride, "padding": padding, "ceil_mode": ceil_mode,
            "count_include_pad": count_include_pad, "dilation": dilation},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})
