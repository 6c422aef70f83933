"""Digits drawn by code: ten glyphs of 5 x 7 squares, drawn with random position, brightness, slant
and noise. They replace MNIST where its files are absent, and in onnx_in.py."""
import numpy as np

GLYPHS = """
01110 00100 01110 11110 00010 11111 01110 11111 01110 01110
10001 01100 10001 00001 00110 10000 10000 00001 10001 10001
10011 00100 00001 00001 01010 11110 10000 00010 10001 10001
10101 00100 00010 01110 10010 00001 11110 00100 01110 01111
11001 00100 00100 00001 11111 00001 10001 00100 10001 00001
10001 00100 01000 00001 00010 10001 10001 01000 10001 00001
01110 01110 11111 11110 00010 01110 01110 01000 01110 01110
"""


def draw(count, seed):
    """`count` images (count, 1, 28, 28) with values from 0 to 1, and their digits (count,)."""
    random = np.random.default_rng(seed)
    rows = np.array([[list(word) for word in line.split()] for line in GLYPHS.split("\n")[1:-1]])
    glyphs = rows.transpose(1, 0, 2).astype(np.float32).repeat(3, axis=1).repeat(3, axis=2)
    digits = random.integers(0, 10, count)
    images = random.normal(0, 0.15, (count, 1, 28, 28))
    for image, digit in zip(images[:, 0], digits):
        top, left = random.integers(0, 8), random.integers(3, 11)
        slant = random.uniform(-0.15, 0.15)
        for y, line in enumerate(glyphs[digit]):
            begin = left + round(slant * (y - 10))
            image[top + y, begin:begin + 15] += line * random.uniform(0.4, 1.0)
    return images.clip(0, 1).astype(np.float32), digits.astype(np.int32)
