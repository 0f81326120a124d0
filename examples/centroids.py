"""A small PyTorch program to port: what it computes, other frameworks refuse or compute otherwise.

    castwise port --to jax examples/centroids.py
    castwise port --to paddle examples/centroids.py

It sorts images of bytes by the nearest of four centres.
"""

from __future__ import annotations

import torch

IMAGES, PIXELS, CLASSES = 64, 16, 4


def main() -> None:
    torch.manual_seed(0)
    labels = torch.randint(0, CLASSES, (IMAGES,))
    pixels = torch.randint(0, 60, (IMAGES, PIXELS), dtype=torch.uint8)
    pixels[:, 0] = labels.to(torch.uint8) * 60

    scaled = pixels / 255
    weights = 1 + labels * 0.5
    centres = torch.stack([scaled[labels == k].mean(dim=0) for k in range(CLASSES)])
    distances = (scaled[:, None] - centres).square().sum(dim=2)
    guesses = distances.argmin(dim=1)

    hits = (guesses == labels).sum()
    accuracy = hits / IMAGES
    loss = (distances.amin(dim=1) * weights).sum() / labels.sum()
    score = (weights * labels).mean()
    print(f"accuracy {accuracy:.2f}, loss {loss:.3f}, score {score:.2f}")


if __name__ == "__main__":
    main()
