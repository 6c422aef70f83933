"""Makes digits.onnx: a small network that PyTorch trained on drawn digits and exported.

    python3 examples/data/make_digits.py        needs torch; Debian's python3-torch is 1.13
"""
import pathlib
import sys

import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))
import digits  # noqa: E402

torch.manual_seed(1)
images, labels = (torch.from_numpy(values) for values in digits.draw(4000, seed=1))
model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(8 * 7 * 7, 10))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.003)
for step in range(500):
    batch = slice(step % 125 * 32, step % 125 * 32 + 32)
    loss = nn.functional.cross_entropy(model(images[batch]), labels[batch].long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
torch.onnx.export(model.eval(), images[:1], str(HERE / "digits.onnx"), opset_version=13,
                  input_names=["image"], output_names=["scores"],
                  dynamic_axes={"image": {0: "batch"}, "scores": {0: "batch"}})
print("loss of the last step %.3f" % loss.item())
