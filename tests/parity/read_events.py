#!/usr/bin/env python3
"""Reads TensorBoard event files without TensorBoard: TFRecord framing with masked CRC-32C, Event
and Summary protobufs.

Written from the descriptions of TFRecord (tensorflow/core/lib/io/record_writer.h), event.proto and
summary.proto. read_events.py FILE prints "step tag value"; --check FILE compares with what
src/telemetry/event_file_test.cpp writes.
"""
import argparse
import struct
import sys


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:  # bit by bit, unlike the writer's table
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 & -(crc & 1))
    return crc ^ 0xFFFFFFFF


def unmask(masked):
    rotated = (masked - 0xA282EAD8) & 0xFFFFFFFF
    return ((rotated >> 17) | (rotated << 15)) & 0xFFFFFFFF


def records(data):
    at = 0
    while at < len(data):
        length, crc = struct.unpack_from("<QI", data, at)
        if crc32c(data[at:at + 8]) != unmask(crc):
            raise ValueError(f"record at {at}: the checksum of its length is wrong")
        body = data[at + 12:at + 12 + length]
        if len(body) != length or crc32c(body) != unmask(
            struct.unpack_from("<I", data, at + 12 + length)[0]):
            raise ValueError(f"record at {at}: the checksum of its data is wrong")
        yield body
        at += 16 + length


def fields(message):
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        tag = varint()
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value = varint()
        elif wire == 1:
            value, at = message[at:at + 8], at + 8
        elif wire == 2:
            length = varint()
            value, at = message[at:at + length], at + length
        elif wire == 5:
            value, at = message[at:at + 4], at + 4
        else:
            raise ValueError(f"wire type {wire}")
        yield number, value


def events(path):
    """(wall time, step, version or None, [(tag, value)]) of each event."""
    with open(path, "rb") as f:
        data = f.read()
    for body in records(data):
        wall, step, version, scalars = 0.0, 0, None, []
        for number, value in fields(body):
            if number == 1:
                wall = struct.unpack("<d", value)[0]
            elif number == 2:
                step = value
            elif number == 3:
                version = value.decode()
            elif number == 5:
                for _, item in fields(value):
                    parts = dict(fields(item))
                    scalars.append((parts[1].decode(), struct.unpack("<f", parts[2])[0]))
        yield wall, step, version, scalars


def check(path):
    got = list(events(path))
    want = [(1700000000.25, 0, "brain.Event:2", [])]
    f32 = lambda x: struct.unpack("<f", struct.pack("<f", x))[0]
    for run in range(2):
        for i in range(1, 101):
            want.append((1700000000.25 + i, 100 * run + i, None, [("train/loss", f32(1 / i))]))
            want.append((1700000000.25 + i, 100 * run + i, None, [("train/rate", 0.125)]))
    return got == want


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    if args.check:
        sys.exit(0 if check(args.file) else 1)
    for wall, step, version, scalars in events(args.file):
        for tag, value in scalars:
            print(step, tag, value)
