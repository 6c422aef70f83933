"""Networks as people write them, for torch_models.py --named: ResNet-18, MobileNetV3-small, a ViT,
a BERT encoder and a Whisper encoder, with random weights."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, c, out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(c, out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.downsample = None
        if stride != 1 or c != out:
            self.downsample = nn.Sequential(nn.Conv2d(c, out, 1, stride, bias=False),
                                            nn.BatchNorm2d(out))

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += identity
        return self.relu(out)


class ResNet18(nn.Module):
    def __init__(self, classes=1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        for i, (c, out) in enumerate([(64, 64), (64, 128), (128, 256), (256, 512)]):
            setattr(self, "layer%d" % (i + 1), nn.Sequential(Block(c, out, 2 if i else 1),
                                                             Block(out, out, 1)))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512, classes)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


class Squeeze(nn.Module):
    def __init__(self, c):
        super().__init__()
        inner = _eight(c / 4)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1, self.fc2 = nn.Conv2d(c, inner, 1), nn.Conv2d(inner, c, 1)
        self.activation, self.scale_activation = nn.ReLU(), nn.Hardsigmoid()

    def forward(self, x):
        scale = self.activation(self.fc1(self.avgpool(x)))
        return self.scale_activation(self.fc2(scale)) * x


def _eight(n):
    made = max(8, int(n + 4) // 8 * 8)
    return made + 8 if made < 0.9 * n else made


class Inverted(nn.Module):
    def __init__(self, c, k, wide, out, se, hard, stride):
        super().__init__()
        self.use_res_connect = stride == 1 and c == out
        act = nn.Hardswish if hard else nn.ReLU
        parts = []
        if wide != c:
            parts.append(_unit(c, wide, 1, 1, 1, act))
        parts.append(_unit(wide, wide, k, stride, wide, act))
        if se:
            parts.append(Squeeze(wide))
        parts.append(_unit(wide, out, 1, 1, 1, None))
        self.block = nn.Sequential(*parts)

    def forward(self, x):
        made = self.block(x)
        if self.use_res_connect:
            made += x
        return made


def _unit(c, out, k, stride, groups, act):
    parts = [nn.Conv2d(c, out, k, stride, (k - 1) // 2, groups=groups, bias=False),
             nn.BatchNorm2d(out, eps=0.001, momentum=0.01)]
    return nn.Sequential(*parts, *([act(inplace=True)] if act else []))


class MobileNetV3Small(nn.Module):
    def __init__(self, classes=1000):
        super().__init__()
        rows = [(16, 3, 16, 16, True, False, 2), (16, 3, 72, 24, False, False, 2),
                (24, 3, 88, 24, False, False, 1), (24, 5, 96, 40, True, True, 2),
                (40, 5, 240, 40, True, True, 1), (40, 5, 240, 40, True, True, 1),
                (40, 5, 120, 48, True, True, 1), (48, 5, 144, 48, True, True, 1),
                (48, 5, 288, 96, True, True, 2), (96, 5, 576, 96, True, True, 1),
                (96, 5, 576, 96, True, True, 1)]
        self.features = nn.Sequential(_unit(3, 16, 3, 2, 1, nn.Hardswish),
                                      *[Inverted(*r) for r in rows],
                                      _unit(96, 576, 1, 1, 1, nn.Hardswish))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Linear(576, 1024), nn.Hardswish(inplace=True),
                                        nn.Dropout(p=0.2, inplace=True), nn.Linear(1024, classes))

    def forward(self, x):
        x = self.avgpool(self.features(x))
        return self.classifier(torch.flatten(x, 1))


class ViT(nn.Module):
    def __init__(self, size=64, patch=8, width=96, depth=4, heads=4, classes=100):
        super().__init__()
        self.conv_proj = nn.Conv2d(3, width, patch, patch)
        self.class_token = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.pos_embedding = nn.Parameter(torch.randn(1, (size // patch) ** 2 + 1, width) * 0.02)
        self.layers = nn.ModuleList()
        for _ in range(depth):
            self.layers.append(nn.ModuleDict({
                "ln_1": nn.LayerNorm(width, eps=1e-6), "ln_2": nn.LayerNorm(width, eps=1e-6),
                "self_attention": nn.MultiheadAttention(width, heads, dropout=0.1,
                                                        batch_first=True),
                "mlp": nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Dropout(0.1),
                                     nn.Linear(4 * width, width), nn.Dropout(0.1))}))
        self.ln, self.head = nn.LayerNorm(width, eps=1e-6), nn.Linear(width, classes)

    def forward(self, x):
        n, _, h, w = x.shape
        x = self.conv_proj(x).reshape(n, self.pos_embedding.shape[-1], -1).permute(0, 2, 1)
        x = torch.cat([self.class_token.expand(n, -1, -1), x], dim=1) + self.pos_embedding
        for layer in self.layers:
            y = layer["ln_1"](x)
            y, _ = layer["self_attention"](y, y, y, need_weights=False)
            x = x + y
            x = x + layer["mlp"](layer["ln_2"](x))
        return self.head(self.ln(x)[:, 0])


class BertLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.dense = (nn.Linear(width, width) for _ in range(4))
        self.norm1, self.norm2 = (nn.LayerNorm(width, eps=1e-12) for _ in range(2))
        self.intermediate, self.output = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(0.1)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, -1).permute(0, 2, 1, 3)

    def forward(self, x, mask):
        q, k, v = (self.split(f(x)) for f in (self.query, self.key, self.value))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.size(-1)) + mask
        probs = self.dropout(F.softmax(scores, dim=-1))
        y = torch.matmul(probs, v).permute(0, 2, 1, 3).contiguous()
        y = y.view(y.size(0), y.size(1), -1)
        x = self.norm1(self.dropout(self.dense(y)) + x)
        return self.norm2(self.dropout(self.output(F.gelu(self.intermediate(x)))) + x)


class Bert(nn.Module):
    def __init__(self, vocabulary=500, width=96, heads=4, depth=3, steps=64):
        super().__init__()
        self.word, self.position = nn.Embedding(vocabulary, width), nn.Embedding(steps, width)
        self.kind, self.norm = nn.Embedding(2, width), nn.LayerNorm(width, eps=1e-12)
        self.dropout = nn.Dropout(0.1)
        self.layers = nn.ModuleList([BertLayer(width, heads) for _ in range(depth)])
        self.pooler = nn.Linear(width, width)
        self.register_buffer("position_ids", torch.arange(steps).expand((1, -1)))

    def forward(self, input_ids, attention_mask, token_type_ids=None):
        if token_type_ids is None:
            token_type_ids = torch.zeros_like(input_ids)
        x = self.word(input_ids) + self.position(self.position_ids[:, :input_ids.size(1)])
        x = self.dropout(self.norm(x + self.kind(token_type_ids)))
        mask = (1.0 - attention_mask[:, None, None, :].to(x.dtype)) * torch.finfo(x.dtype).min
        for layer in self.layers:
            x = layer(x, mask)
        return x, torch.tanh(self.pooler(x[:, 0]))


class WhisperAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.value, self.out = (nn.Linear(width, width) for _ in range(3))
        self.key = nn.Linear(width, width, bias=False)

    def forward(self, x):
        q, k, v = self.query(x), self.key(x), self.value(x)
        q, k, v = (t.view(*t.shape[:2], self.heads, -1).permute(0, 2, 1, 3) for t in (q, k, v))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=False)
        return self.out(a.permute(0, 2, 1, 3).flatten(start_dim=2))


class WhisperBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attn, self.attn_ln = WhisperAttention(width, heads), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                 nn.Linear(4 * width, width))
        self.mlp_ln = nn.LayerNorm(width)

    def forward(self, x):
        x = x + self.attn(self.attn_ln(x))
        return x + self.mlp(self.mlp_ln(x))


def sinusoids(length, channels):
    scale = math.log(10000) / (channels // 2 - 1)
    inverse = torch.exp(-scale * torch.arange(channels // 2))
    angles = torch.arange(length)[:, None] * inverse[None]
    return torch.cat([angles.sin(), angles.cos()], 1)


class WhisperEncoder(nn.Module):
    def __init__(self, mels=80, steps=100, width=96, heads=4, depth=3):
        super().__init__()
        self.conv1 = nn.Conv1d(mels, width, 3, padding=1)
        self.conv2 = nn.Conv1d(width, width, 3, stride=2, padding=1)
        self.register_buffer("positional_embedding", sinusoids(steps, width))
        self.blocks = nn.ModuleList([WhisperBlock(width, heads) for _ in range(depth)])
        self.ln_post = nn.LayerNorm(width)

    def forward(self, x):
        x = F.gelu(self.conv2(F.gelu(self.conv1(x)))).permute(0, 2, 1)
        assert x.shape[1:] == self.positional_embedding.shape
        x = (x + self.positional_embedding).to(x.dtype)
        for block in self.blocks:
            x = block(x)
        return self.ln_post(x)


def _mask(n):
    return (torch.arange(24)[None] < torch.randint(1, 25, (n, 1))).long()


def cases(only):
    from torch_modules import mixed
    images = lambda n: (torch.randn(n, 3, 64, 64),)
    made = {"resnet18": (ResNet18, images), "mobilenet_v3_small": (MobileNetV3Small, images),
            "vit": (ViT, images), "bert": (Bert, lambda n: (torch.randint(0, 500, (n, 24)),
                                                            _mask(n))),
            "whisper": (WhisperEncoder, lambda n: (torch.randn(n, 80, 200),))}
    for name, (kind, make) in made.items():
        if only in ("", name):
            torch.manual_seed(1)
            yield name, mixed(kind()), make
