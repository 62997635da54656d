"""The student: a small decoder in which each token also sees its predecessor before it attends."""
import dataclasses
import math

import torch
from torch import nn
from torch.nn import functional as F


@dataclasses.dataclass(frozen=True)
class Shape:
    """The size of a model. Its keys and values have width / heads dimensions."""
    vocabulary: int
    width: int = 64
    layers: int = 3
    heads: int = 4


def rotated(x, positions, base=1000.0):
    """RoPE: turns each pair of dimensions of x [batch, heads, tokens, size] by an angle that grows with positions [batch, tokens]."""
    half = x.shape[-1] // 2
    angles = positions[:, None, :, None] * base ** (-torch.arange(half) / half)
    cos, sin = angles.cos(), angles.sin()
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)


class Layer(nn.Module):
    """Attention and an MLP, both after RMSNorm and added to their input."""

    def __init__(self, shape):
        super().__init__()
        width = shape.width
        self.heads = shape.heads
        self.norm_attention, self.norm_mlp = nn.RMSNorm(width), nn.RMSNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.share = nn.Parameter(torch.full((3 * width,), 0.5))  # of the predecessor's q, k and v that a token gets
        self.out = nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

    def projected(self, x):
        """A token's own q, k and v in one vector, before it gets its predecessor's share."""
        return self.qkv(self.norm_attention(x))

    def split(self, own, predecessors, positions):
        """q, k and v [batch, heads, tokens, size] of tokens, given what projected returned for them and for their predecessors."""
        mixed = own + self.share * predecessors
        q, k, v = mixed.unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        return rotated(q, positions), rotated(k, positions), v

    def added(self, x, q, k, v, mask):
        """The layer's output: x, what the tokens attend to (mask [batch, queries, keys], True where they may), and the MLP."""
        seen = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None])
        x = x + self.out(seen.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm_mlp(x))))


class Student(nn.Module):
    """The model. Its output matrix is the embedding."""

    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.width)
        nn.init.normal_(self.embedding.weight, std=0.02)
        for layer in self.layers:
            for matrix in (layer.qkv, layer.out, layer.up, layer.down):
                gain = 0.3 if matrix in (layer.out, layer.down) else 1.0  # what is added to x begins small
                nn.init.normal_(matrix.weight, std=gain / math.sqrt(matrix.in_features))

    def forward(self, ids, positions, parents, mask):
        """The last hidden states [batch, tokens, width].

        ids, positions and parents are [batch, tokens]: positions counts the tokens before a token on its path from the root, parents
        is the index of its predecessor on that path, its own at a root. mask is [batch, queries, keys], True where a token is seen.
        """
        x = self.embedding(ids)
        for layer in self.layers:
            own = layer.projected(x)
            predecessors = own.gather(1, parents[..., None].expand_as(own))
            x = layer.added(x, *layer.split(own, predecessors, positions), mask)
        return self.norm(x)

    def logits(self, hidden):
        return hidden @ self.embedding.weight.T
