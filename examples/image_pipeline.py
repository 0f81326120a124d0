"""Prepares images for a network, and silently does it in float64.

Nothing here requests float64, and every constant is float32. Ask castwise which line causes it:

    castwise audit examples/image_pipeline.py
"""

import numpy as np

MEAN = np.array([0.485, 0.456, 0.406], dtype=np.float32)
STD = np.array([0.229, 0.224, 0.225], dtype=np.float32)
BLUR = np.array([0.25, 0.5, 0.25], dtype=np.float32)


def load_image(seed: int) -> np.ndarray:
    """An image as from a camera, with 8 bits per channel; here it is noise."""
    return np.random.default_rng(seed).integers(0, 256, (768, 1024, 3), dtype=np.uint8)


def resize(image: np.ndarray) -> np.ndarray:
    """Half the size, by taking every second pixel."""
    return image[::2, ::2]


def normalise(image: np.ndarray) -> np.ndarray:
    """Each channel with a mean near 0 and a deviation near 1."""
    scaled = image / 255
    return (scaled - MEAN) / STD


def blur(batch: np.ndarray) -> np.ndarray:
    """A small convolution along the rows."""
    neighbours = [batch[:, :, :-2], batch[:, :, 1:-1], batch[:, :, 2:]]
    return np.stack(neighbours, axis=-1) @ BLUR


def main() -> None:
    images = [normalise(resize(load_image(seed))) for seed in range(32)]
    batch = blur(np.stack(images))
    print(f"{len(batch)} images of {batch.dtype}, mean {batch.mean():.8f}")


if __name__ == "__main__":
    main()
