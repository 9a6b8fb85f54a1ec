"""Images with a map overlaid: saliency, CAM, Grad-CAM."""

import io

import numpy as np

from ..words import _
from .picture import PictureError
from .spots import in_words

OVERLAY = 0.55  # opacity of the map over the image
RISING = "inferno"  # color-blind readers can distinguish its colors
BELOW, ZERO, ABOVE = "#e8801a", "#f7f7f7", "#3b82d6"  # orange and blue, the colors of all pictures: static/cells.css


def heat(image, map=None, titles=None, columns=4):
    """Show an image with a map overlaid and the map's color bar, or a small grid of such images.

    `image` is one image, (H, W) or (C, H, W) with 1 or 3 channels, or several in a list or a batch; `map` is (h, w), or
    a list or batch with one map per image. A smaller map is resized to its image. Tensors and arrays are not changed.
    Maps share one scale: from 0 if no value is negative, else symmetric around 0. Without `map`, only images are shown.

    >>> heat(torch.rand(8, 8), torch.eye(4), titles="saliency")
    saliency: 8 × 8 pixels; map 4 × 4, up to 1, not in one place.
    """
    images = [_image(value) for value in _several(image, "image")]
    maps = [None] * len(images) if map is None else [_map(value) for value in _several(map, "map")]
    titles = [titles] if isinstance(titles, str) else list(titles or [""] * len(images))
    if not len(images) == len(maps) == len(titles):
        counts = {"images": len(images), "maps": len(maps), "titles": len(titles)}
        text = _("heat() needs as many maps and titles as images ({images}), not {maps} and {titles}.", **counts)
        raise PictureError(text)
    return Heat(images, maps, titles, columns)


def _array(value):
    """Return a tensor, or anything like an array, as a NumPy array without a batch or channel of one."""
    if hasattr(value, "detach"):
        value = value.detach()
        value = value.cpu() if hasattr(value, "cpu") else value
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value, float)
    while array.ndim > 2 and array.shape[0] == 1:
        array = array[0]
    return array


def _several(value, name):
    """Return a list of images or maps; the number of dimensions shows whether `value` is one or several."""
    if isinstance(value, list | tuple):
        return list(value)
    array = _array(value)
    batch = array.ndim == 4 or (array.ndim == 3 and name == "map")
    return list(array) if batch else [array]


def _image(value):
    """Return an image as an array (H, W) or (H, W, 3) with values from 0 to 1."""
    array = _array(value)
    if array.ndim == 3 and array.shape[0] == 3:
        array = array.transpose(1, 2, 0)
    if not (array.ndim == 2 or (array.ndim == 3 and array.shape[2] == 3)):
        shape = np.shape(value)
        text = _("an image has the shape (H, W) or (C, H, W) with 1 or 3 channels, not {shape}.", shape=shape)
        raise PictureError(text)
    low, high = array.min(), array.max()
    return (array - low) / (high - low) if high > low else np.zeros_like(array)


def _map(value):
    array = _array(value)
    if array.ndim != 2:
        text = _("a map has the shape (h, w), not {shape}. Sum or take the maximum over channels.", shape=array.shape)
        raise PictureError(text)
    return array


def by_sign():
    """Return a matplotlib colormap for signed numbers: blue above zero, orange below."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("gradlab", [BELOW, ZERO, ABOVE])


class Heat:
    """Images and maps: in a notebook, one figure; in a terminal, words on each map's size and position."""

    def __init__(self, images, maps, titles, columns):
        self.images, self.maps, self.titles, self.columns = images, maps, titles, columns
        self.text = "\n".join(self._line(k) for k in range(len(images)))

    def _line(self, k):
        name, map = self.titles[k] or _("image {number}", number=k + 1), self.maps[k]
        height, width = self.images[k].shape[:2]
        parts = {"name": name, "height": height, "width": width}
        if map is None:
            return _("{name}: {height} × {width} pixels.", **parts)
        parts |= {"rows": map.shape[0], "columns": map.shape[1], "values": in_words(map)}
        return _("{name}: {height} × {width} pixels; map {rows} × {columns}, {values}.", **parts)

    def figure(self):
        """Draw everything into a new matplotlib Figure."""
        import matplotlib.style
        from matplotlib.figure import Figure

        columns = min(self.columns, len(self.images))
        rows = -(-len(self.images) // columns)
        with matplotlib.style.context("gradlab.course"):
            figure = Figure(figsize=(2.1 * columns + 0.7, 2.2 * rows))
            axes = figure.subplots(rows, columns, squeeze=False)
            shown = None
            for k, axis in enumerate(axes.flat):
                axis.set_axis_off()
                if k < len(self.images):
                    shown = self._draw(axis, k) or shown
            if shown is not None:
                bar = figure.colorbar(shown, ax=axes, shrink=0.85, pad=0.02)
                bar.solids.set_alpha(1)
                bar.outline.set_visible(False)
        return figure

    def _draw(self, axis, k):
        image, map = self.images[k], self.maps[k]
        axis.set_title(self.titles[k])
        if map is None:
            axis.imshow(image, cmap="gray", vmin=0, vmax=1)
            return None
        axis.imshow(image if image.ndim == 2 else image.mean(2), cmap="gray", vmin=0, vmax=1)  # only the map has color
        low, high = self._range()
        h, w = image.shape[:2]
        colors = by_sign() if low < 0 else RISING
        return axis.imshow(map, cmap=colors, vmin=low, vmax=high, alpha=OVERLAY, extent=(-0.5, w - 0.5, h - 0.5, -0.5))

    def _range(self):
        values = np.concatenate([map[np.isfinite(map)] for map in self.maps if map is not None] or [np.zeros(1)])
        low, high = (values.min(), values.max()) if values.size else (0, 0)
        most = max(abs(low), abs(high)) or 1
        return (-most, most) if low < 0 else (0, most)

    def _repr_mimebundle_(self, include=None, exclude=None):
        sink = io.BytesIO()
        self.figure().savefig(sink, format="png", bbox_inches="tight", pad_inches=0.05, metadata={"Software": None})
        return {"image/png": sink.getvalue(), "text/plain": self.text}

    def __str__(self):
        return self.text

    __repr__ = __str__
