"""Convolutions, channels first.

Made by tools/generate from the field lists in src: edit those.
"""
from __future__ import annotations

from typing import Optional, Sequence, Union

from ._base import Layer, Size, checked, padding_of


class Conv1d(Layer):
    """Convolution over (channels, length), (channels, height, width) or (channels, depth, height,
    width). Parameters: `weight` (filters, channels / groups x kernel), PyTorch's order, `bias`.

    * `out_channels`: channels of the output; at least 1.
    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; at least 1.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then all
      ends; "same", for a stride of 1, or "valid", none; at least 0.
    * `dilation`: step between the taps of the window; at least 1.
    * `groups`: number of groups, as in PyTorch; it divides channels and filters; at least 1.
    * `bias`: adds a learned number per filter.
    * `padding_mode`: only "zeros": padding is with zeros: pad the samples themselves.
    * `activation`: applied to the sum.
    """

    out_channels: int
    kernel_size: Size
    stride: Size
    padding: Size
    dilation: Size
    groups: int
    bias: bool
    padding_mode: str
    activation: str
    _kind = "conv1d"

    @checked
    def __init__(self, out_channels: int, kernel_size: Size, stride: Size = 1,
                 padding: Union[Size, str] = 0, dilation: Size = 1, groups: int = 1,
                 bias: bool = True, padding_mode: str = "zeros", *, activation: str = "linear",
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("conv1d", {
            "filters": out_channels, "kernel": kernel_size, "stride": stride,
            "padding": padding_of("Conv1d", padding, kernel_size, stride, dilation),
            "dilation": dilation, "groups": groups, "bias": bias, "activation": activation},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class Conv2d(Layer):
    """Convolution over (channels, length), (channels, height, width) or (channels, depth, height,
    width). Parameters: `weight` (filters, channels / groups x kernel), PyTorch's order, `bias`.

    * `out_channels`: channels of the output; at least 1.
    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; at least 1.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then all
      ends; "same", for a stride of 1, or "valid", none; at least 0.
    * `dilation`: step between the taps of the window; at least 1.
    * `groups`: number of groups, as in PyTorch; it divides channels and filters; at least 1.
    * `bias`: adds a learned number per filter.
    * `padding_mode`: only "zeros": padding is with zeros: pad the samples themselves.
    * `activation`: applied to the sum.
    """

    out_channels: int
    kernel_size: Size
    stride: Size
    padding: Size
    dilation: Size
    groups: int
    bias: bool
    padding_mode: str
    activation: str
    _kind = "conv2d"

    @checked
    def __init__(self, out_channels: int, kernel_size: Size, stride: Size = 1,
                 padding: Union[Size, str] = 0, dilation: Size = 1, groups: int = 1,
                 bias: bool = True, padding_mode: str = "zeros", *, activation: str = "linear",
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("conv2d", {
            "filters": out_channels, "kernel": kernel_size, "stride": stride,
            "padding": padding_of("Conv2d", padding, kernel_size, stride, dilation),
            "dilation": dilation, "groups": groups, "bias": bias, "activation": activation},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class Conv3d(Layer):
    """Convolution over (channels, length), (channels, height, width) or (channels, depth, height,
    width). Parameters: `weight` (filters, channels / groups x kernel), PyTorch's order, `bias`.

    * `out_channels`: channels of the output; at least 1.
    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; at least 1.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then all
      ends; "same", for a stride of 1, or "valid", none; at least 0.
    * `dilation`: step between the taps of the window; at least 1.
    * `groups`: number of groups, as in PyTorch; it divides channels and filters; at least 1.
    * `bias`: adds a learned number per filter.
    * `padding_mode`: only "zeros": padding is with zeros: pad the samples themselves.
    * `activation`: applied to the sum.
    """

    out_channels: int
    kernel_size: Size
    stride: Size
    padding: Size
    dilation: Size
    groups: int
    bias: bool
    padding_mode: str
    activation: str
    _kind = "conv3d"

    @checked
    def __init__(self, out_channels: int, kernel_size: Size, stride: Size = 1,
                 padding: Union[Size, str] = 0, dilation: Size = 1, groups: int = 1,
                 bias: bool = True, padding_mode: str = "zeros", *, activation: str = "linear",
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("conv3d", {
            "filters": out_channels, "kernel": kernel_size, "stride": stride,
            "padding": padding_of("Conv3d", padding, kernel_size, stride, dilation),
            "dilation": dilation, "groups": groups, "bias": bias, "activation": activation},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class ConvTranspose1d(Layer):
    """Transposed convolution over (channels, length), (channels, height, width) or (channels,
    depth, height, width). Parameters: `weight` (filters x kernel, channels), with groups
    (groups x filters / groups x kernel, channels / groups), `bias`.

    * `out_channels`: channels of the output; at least 1.
    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; at least 1.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then all
      ends; at least 0.
    * `output_padding`: values added at the end of each dimension of the output, below the stride or
      the dilation; at least 0.
    * `groups`: number of groups, as in PyTorch; it divides channels and filters; at least 1.
    * `bias`: adds a learned number per filter.
    * `dilation`: step between the taps of the window; at least 1.
    * `padding_mode`: only "zeros": padding is with zeros: pad the samples themselves.
    * `activation`: applied to the sum.
    """

    out_channels: int
    kernel_size: Size
    stride: Size
    padding: Size
    output_padding: Size
    groups: int
    bias: bool
    dilation: Size
    padding_mode: str
    activation: str
    _kind = "conv_transpose1d"

    @checked
    def __init__(self, out_channels: int, kernel_size: Size, stride: Size = 1, padding: Size = 0,
                 output_padding: Size = 0, groups: int = 1, bias: bool = True, dilation: Size = 1,
                 padding_mode: str = "zeros", *, activation: str = "linear",
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("conv_transpose1d", {
            "filters": out_channels, "kernel": kernel_size, "stride": stride, "padding": padding,
            "output_padding": output_padding, "groups": groups, "bias": bias, "dilation": dilation,
            "activation": activation},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class ConvTranspose2d(Layer):
    """Transposed convolution over (channels, length), (channels, height, width) or (channels,
    depth, height, width). Parameters: `weight` (filters x kernel, channels), with groups
    (groups x filters / groups x kernel, channels / groups), `bias`.

    * `out_channels`: channels of the output; at least 1.
    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; at least 1.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then all
      ends; at least 0.
    * `output_padding`: values added at the end of each dimension of the output, below the stride or
      the dilation; at least 0.
    * `groups`: number of groups, as in PyTorch; it divides channels and filters; at least 1.
    * `bias`: adds a learned number per filter.
    * `dilation`: step between the taps of the window; at least 1.
    * `padding_mode`: only "zeros": padding is with zeros: pad the samples themselves.
    * `activation`: applied to the sum.
    """

    out_channels: int
    kernel_size: Size
    stride: Size
    padding: Size
    output_padding: Size
    groups: int
    bias: bool
    dilation: Size
    padding_mode: str
    activation: str
    _kind = "conv_transpose2d"

    @checked
    def __init__(self, out_channels: int, kernel_size: Size, stride: Size = 1, padding: Size = 0,
                 output_padding: Size = 0, groups: int = 1, bias: bool = True, dilation: Size = 1,
                 padding_mode: str = "zeros", *, activation: str = "linear",
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("conv_transpose2d", {
            "filters": out_channels, "kernel": kernel_size, "stride": stride, "padding": padding,
            "output_padding": output_padding, "groups": groups, "bias": bias, "dilation": dilation,
            "activation": activation},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class ConvTranspose3d(Layer):
    """Transposed convolution over (channels, length), (channels, height, width) or (channels,
    depth, height, width). Parameters: `weight` (filters x kernel, channels), with groups
    (groups x filters / groups x kernel, channels / groups), `bias`.

    * `out_channels`: channels of the output; at least 1.
    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; at least 1.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then all
      ends; at least 0.
    * `output_padding`: values added at the end of each dimension of the output, below the stride or
      the dilation; at least 0.
    * `groups`: number of groups, as in PyTorch; it divides channels and filters; at least 1.
    * `bias`: adds a learned number per filter.
    * `dilation`: step between the taps of the window; at least 1.
    * `padding_mode`: only "zeros": padding is with zeros: pad the samples themselves.
    * `activation`: applied to the sum.
    """

    out_channels: int
    kernel_size: Size
    stride: Size
    padding: Size
    output_padding: Size
    groups: int
    bias: bool
    dilation: Size
    padding_mode: str
    activation: str
    _kind = "conv_transpose3d"

    @checked
    def __init__(self, out_channels: int, kernel_size: Size, stride: Size = 1, padding: Size = 0,
                 output_padding: Size = 0, groups: int = 1, bias: bool = True, dilation: Size = 1,
                 padding_mode: str = "zeros", *, activation: str = "linear",
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("conv_transpose3d", {
            "filters": out_channels, "kernel": kernel_size, "stride": stride, "padding": padding,
            "output_padding": output_padding, "groups": groups, "bias": bias, "dilation": dilation,
            "activation": activation},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})
