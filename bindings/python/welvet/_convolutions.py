"""Convolutions and pools, channels first.

Made by tools/generate from the field lists in src: edit those.
"""
from __future__ import annotations

from typing import Any

from ._cells import Layer, Size


def Conv1d(out_channels: int, kernel_size: Size = 3, stride: Size = 1, padding: Size = 0,
           dilation: Size = 1, groups: int = 1, bias: bool = True, activation: str = "linear",
           **common: Any) -> Layer:
    """Convolution over (channels, length), (channels, height, width) or (channels, depth, height,
    width). Parameters: `weight` (filters, channels / groups x kernel), PyTorch's order, `bias`.

    * `out_channels`: channels of the output; at least 1.
    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; at least 1.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then
      all ends; at least 0.
    * `dilation`: step between the taps of the window; at least 1.
    * `groups`: number of groups, as in PyTorch; it divides channels and filters; at least 1.
    * `bias`: adds a learned number per filter.
    * `activation`: applied to the sum.
    """
    return Layer("conv1d", {
        "filters": out_channels, "kernel": kernel_size, "stride": stride, "padding": padding,
        "dilation": dilation, "groups": groups, "bias": bias, "activation": activation}, common)


def Conv2d(out_channels: int, kernel_size: Size = 3, stride: Size = 1, padding: Size = 0,
           dilation: Size = 1, groups: int = 1, bias: bool = True, activation: str = "linear",
           **common: Any) -> Layer:
    """Convolution over (channels, length), (channels, height, width) or (channels, depth, height,
    width). Parameters: `weight` (filters, channels / groups x kernel), PyTorch's order, `bias`.

    * `out_channels`: channels of the output; at least 1.
    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; at least 1.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then
      all ends; at least 0.
    * `dilation`: step between the taps of the window; at least 1.
    * `groups`: number of groups, as in PyTorch; it divides channels and filters; at least 1.
    * `bias`: adds a learned number per filter.
    * `activation`: applied to the sum.
    """
    return Layer("conv2d", {
        "filters": out_channels, "kernel": kernel_size, "stride": stride, "padding": padding,
        "dilation": dilation, "groups": groups, "bias": bias, "activation": activation}, common)


def Conv3d(out_channels: int, kernel_size: Size = 3, stride: Size = 1, padding: Size = 0,
           dilation: Size = 1, groups: int = 1, bias: bool = True, activation: str = "linear",
           **common: Any) -> Layer:
    """Convolution over (channels, length), (channels, height, width) or (channels, depth, height,
    width). Parameters: `weight` (filters, channels / groups x kernel), PyTorch's order, `bias`.

    * `out_channels`: channels of the output; at least 1.
    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; at least 1.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then
      all ends; at least 0.
    * `dilation`: step between the taps of the window; at least 1.
    * `groups`: number of groups, as in PyTorch; it divides channels and filters; at least 1.
    * `bias`: adds a learned number per filter.
    * `activation`: applied to the sum.
    """
    return Layer("conv3d", {
        "filters": out_channels, "kernel": kernel_size, "stride": stride, "padding": padding,
        "dilation": dilation, "groups": groups, "bias": bias, "activation": activation}, common)


def ConvTranspose1d(out_channels: int, kernel_size: Size = 3, stride: Size = 1,
                    padding: Size = 0, dilation: Size = 1, groups: int = 1, bias: bool = True,
                    activation: str = "linear", output_padding: Size = 0,
                    **common: Any) -> Layer:
    """Transposed convolution over (channels, length), (channels, height, width) or (channels,
    depth, height, width). Parameters: `weight` (filters x kernel, channels), with groups
    (groups x filters / groups x kernel, channels / groups), `bias`.

    * `out_channels`: channels of the output; at least 1.
    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; at least 1.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then
      all ends; at least 0.
    * `dilation`: step between the taps of the window; at least 1.
    * `groups`: number of groups, as in PyTorch; it divides channels and filters; at least 1.
    * `bias`: adds a learned number per filter.
    * `activation`: applied to the sum.
    * `output_padding`: values added at the end of each dimension of the output, below the
      stride or the dilation; at least 0.
    """
    return Layer("conv_transpose1d", {
        "filters": out_channels, "kernel": kernel_size, "stride": stride, "padding": padding,
        "dilation": dilation, "groups": groups, "bias": bias, "activation": activation,
        "output_padding": output_padding}, common)


def ConvTranspose2d(out_channels: int, kernel_size: Size = 3, stride: Size = 1,
                    padding: Size = 0, dilation: Size = 1, groups: int = 1, bias: bool = True,
                    activation: str = "linear", output_padding: Size = 0,
                    **common: Any) -> Layer:
    """Transposed convolution over (channels, length), (channels, height, width) or (channels,
    depth, height, width). Parameters: `weight` (filters x kernel, channels), with groups
    (groups x filters / groups x kernel, channels / groups), `bias`.

    * `out_channels`: channels of the output; at least 1.
    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; at least 1.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then
      all ends; at least 0.
    * `dilation`: step between the taps of the window; at least 1.
    * `groups`: number of groups, as in PyTorch; it divides channels and filters; at least 1.
    * `bias`: adds a learned number per filter.
    * `activation`: applied to the sum.
    * `output_padding`: values added at the end of each dimension of the output, below the
      stride or the dilation; at least 0.
    """
    return Layer("conv_transpose2d", {
        "filters": out_channels, "kernel": kernel_size, "stride": stride, "padding": padding,
        "dilation": dilation, "groups": groups, "bias": bias, "activation": activation,
        "output_padding": output_padding}, common)


def ConvTranspose3d(out_channels: int, kernel_size: Size = 3, stride: Size = 1,
                    padding: Size = 0, dilation: Size = 1, groups: int = 1, bias: bool = True,
                    activation: str = "linear", output_padding: Size = 0,
                    **common: Any) -> Layer:
    """Transposed convolution over (channels, length), (channels, height, width) or (channels,
    depth, height, width). Parameters: `weight` (filters x kernel, channels), with groups
    (groups x filters / groups x kernel, channels / groups), `bias`.

    * `out_channels`: channels of the output; at least 1.
    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; at least 1.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then
      all ends; at least 0.
    * `dilation`: step between the taps of the window; at least 1.
    * `groups`: number of groups, as in PyTorch; it divides channels and filters; at least 1.
    * `bias`: adds a learned number per filter.
    * `activation`: applied to the sum.
    * `output_padding`: values added at the end of each dimension of the output, below the
      stride or the dilation; at least 0.
    """
    return Layer("conv_transpose3d", {
        "filters": out_channels, "kernel": kernel_size, "stride": stride, "padding": padding,
        "dilation": dilation, "groups": groups, "bias": bias, "activation": activation,
        "output_padding": output_padding}, common)


def MaxPool1d(kernel_size: Size = 2, stride: Size = 0, padding: Size = 0, dilation: Size = 1,
              ceil_mode: bool = False, global_pool: bool = False, **common: Any) -> Layer:
    """The largest value of each window of (channels, length), (channels, height, width) or
    (channels, depth, height, width).

    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; 0: the kernel; at least 0.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then
      all ends; at least 0.
    * `dilation`: step between the taps of the window; at least 1.
    * `ceil_mode`: a last window that is partly outside counts too.
    * `global_pool`: the window is the whole space, whatever the window's keys say.
    """
    return Layer("max_pool1d", {
        "kernel": kernel_size, "stride": stride, "padding": padding, "dilation": dilation,
        "ceil_mode": ceil_mode, "global": global_pool}, common)


def MaxPool2d(kernel_size: Size = 2, stride: Size = 0, padding: Size = 0, dilation: Size = 1,
              ceil_mode: bool = False, global_pool: bool = False, **common: Any) -> Layer:
    """The largest value of each window of (channels, length), (channels, height, width) or
    (channels, depth, height, width).

    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; 0: the kernel; at least 0.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then
      all ends; at least 0.
    * `dilation`: step between the taps of the window; at least 1.
    * `ceil_mode`: a last window that is partly outside counts too.
    * `global_pool`: the window is the whole space, whatever the window's keys say.
    """
    return Layer("max_pool2d", {
        "kernel": kernel_size, "stride": stride, "padding": padding, "dilation": dilation,
        "ceil_mode": ceil_mode, "global": global_pool}, common)


def MaxPool3d(kernel_size: Size = 2, stride: Size = 0, padding: Size = 0, dilation: Size = 1,
              ceil_mode: bool = False, global_pool: bool = False, **common: Any) -> Layer:
    """The largest value of each window of (channels, length), (channels, height, width) or
    (channels, depth, height, width).

    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; 0: the kernel; at least 0.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then
      all ends; at least 0.
    * `dilation`: step between the taps of the window; at least 1.
    * `ceil_mode`: a last window that is partly outside counts too.
    * `global_pool`: the window is the whole space, whatever the window's keys say.
    """
    return Layer("max_pool3d", {
        "kernel": kernel_size, "stride": stride, "padding": padding, "dilation": dilation,
        "ceil_mode": ceil_mode, "global": global_pool}, common)


def AvgPool1d(kernel_size: Size = 2, stride: Size = 0, padding: Size = 0, dilation: Size = 1,
              ceil_mode: bool = False, global_pool: bool = False,
              count_include_pad: bool = True, **common: Any) -> Layer:
    """The mean of each window of (channels, length), (channels, height, width) or (channels,
    depth, height, width).

    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; 0: the kernel; at least 0.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then
      all ends; at least 0.
    * `dilation`: step between the taps of the window; at least 1.
    * `ceil_mode`: a last window that is partly outside counts too.
    * `global_pool`: the window is the whole space, whatever the window's keys say.
    * `count_include_pad`: padding counts in the divisor.
    """
    return Layer("avg_pool1d", {
        "kernel": kernel_size, "stride": stride, "padding": padding, "dilation": dilation,
        "ceil_mode": ceil_mode, "global": global_pool,
        "count_include_pad": count_include_pad}, common)


def AvgPool2d(kernel_size: Size = 2, stride: Size = 0, padding: Size = 0, dilation: Size = 1,
              ceil_mode: bool = False, global_pool: bool = False,
              count_include_pad: bool = True, **common: Any) -> Layer:
    """The mean of each window of (channels, length), (channels, height, width) or (channels,
    depth, height, width).

    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; 0: the kernel; at least 0.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then
      all ends; at least 0.
    * `dilation`: step between the taps of the window; at least 1.
    * `ceil_mode`: a last window that is partly outside counts too.
    * `global_pool`: the window is the whole space, whatever the window's keys say.
    * `count_include_pad`: padding counts in the divisor.
    """
    return Layer("avg_pool2d", {
        "kernel": kernel_size, "stride": stride, "padding": padding, "dilation": dilation,
        "ceil_mode": ceil_mode, "global": global_pool,
        "count_include_pad": count_include_pad}, common)


def AvgPool3d(kernel_size: Size = 2, stride: Size = 0, padding: Size = 0, dilation: Size = 1,
              ceil_mode: bool = False, global_pool: bool = False,
              count_include_pad: bool = True, **common: Any) -> Layer:
    """The mean of each window of (channels, length), (channels, height, width) or (channels,
    depth, height, width).

    * `kernel_size`: size of the window: one number, or one per dimension; at least 1.
    * `stride`: step of the window; 0: the kernel; at least 0.
    * `padding`: zeros around the input: one number, one per dimension, or all begins and then
      all ends; at least 0.
    * `dilation`: step between the taps of the window; at least 1.
    * `ceil_mode`: a last window that is partly outside counts too.
    * `global_pool`: the window is the whole space, whatever the window's keys say.
    * `count_include_pad`: padding counts in the divisor.
    """
    return Layer("avg_pool3d", {
        "kernel": kernel_size, "stride": stride, "padding": padding, "dilation": dilation,
        "ceil_mode": ceil_mode, "global": global_pool,
        "count_include_pad": count_include_pad}, common)
