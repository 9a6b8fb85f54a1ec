"""Heat maps: what is laid over what, on one scale, readable in both themes."""

import io

import numpy as np
import pytest
import torch

import gradlab
from gradlab.pictures.picture import PictureError


def png(picture):
    from matplotlib.image import imread

    return imread(io.BytesIO(picture._repr_mimebundle_()["image/png"]))


def test_it_says_where_the_largest_value_is():
    saliency = torch.zeros(8, 8)
    saliency[5, 2] = 0.5
    picture = gradlab.heat(torch.rand(1, 1, 8, 8), saliency.requires_grad_(), titles="saliency")
    assert picture.text == "saliency: 8 × 8 pixels; map 8 × 8, largest value 0.5 in row 5, column 2."


def test_the_map_is_spread_over_the_image():
    """A small map covers the whole image, its hot corner over the image's corner."""
    hot = np.array([[0.0, 0.0], [0.0, 1.0]])
    axes = gradlab.heat(np.zeros((8, 8)), hot).figure().axes[0]
    image, overlay = axes.images
    assert image.get_extent() == overlay.get_extent()
    assert overlay.get_array()[1, 1] == 1
    assert overlay.get_clim() == (0, 1)


def test_maps_of_a_grid_share_one_scale():
    """Colours can be compared between pictures; maps with negative values get a scale that is even about zero."""
    figure = gradlab.heat(torch.rand(3, 1, 6, 6), [torch.full((6, 6), k) for k in (1.0, 2.0, 4.0)], columns=2).figure()
    assert {axes.images[1].get_clim() for axes in figure.axes[:3]} == {(0, 4)}
    assert len(figure.axes) == 5, "four places and one colour bar"
    signed = gradlab.heat(np.zeros((4, 4)), np.array([[-3.0, 1.0]])).figure().axes[0].images[1]
    assert signed.get_clim() == (-3, 3)
    below, above = (signed.get_cmap()(signed.norm(value)) for value in (-3, 1))
    assert below[0] > below[2], "orange below zero"
    assert above[2] > above[0], "blue above, as in every other picture"


def test_the_figure_has_no_background_and_stays_the_same():
    """It lies on the light and on the dark page alike, and the same call gives the same bytes."""
    image, map = torch.linspace(0, 1, 64).reshape(8, 8), torch.eye(8)
    picture = gradlab.heat(image, map)
    assert png(picture)[0, 0, 3] == 0
    again = gradlab.heat(image, map)
    assert picture._repr_mimebundle_() == again._repr_mimebundle_()


def test_images_of_all_usual_shapes():
    for shape in ((6, 7), (1, 6, 7), (3, 6, 7), (1, 3, 6, 7), (1, 1, 6, 7)):
        assert gradlab.heat(torch.rand(shape), torch.rand(1, 1, 3, 3)).text.startswith("image 1: 6 × 7 pixels")
    assert gradlab.heat(torch.rand(2, 3, 6, 7)).text.splitlines()[1] == "image 2: 6 × 7 pixels."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((torch.rand(5),), r"an image has the shape \(H, W\) or \(C, H, W\)"),
        (
            (torch.rand(5, 5), [torch.rand(3, 5, 5)]),
            r"a map has the shape \(h, w\), not \(3, 5, 5\)\. Sum or take the max",
        ),
        (
            (torch.rand(2, 1, 5, 5), torch.rand(5, 5)),
            r"as many maps and titles as images, but was given 2 images, 1 maps",
        ),
    ],
)
def test_bad_input_gets_one_clear_sentence(arguments, message):
    with pytest.raises(PictureError, match=message):
        gradlab.heat(*arguments)


def test_the_style_can_be_used_by_name():
    """One style sheet for every plot of the course, found through the package."""
    import matplotlib as mpl
    import matplotlib.style

    with mpl.rc_context(), mpl.style.context("gradlab.course"):
        assert mpl.rcParams["image.cmap"] == "cividis"
        assert mpl.rcParams["figure.facecolor"] == "none"


def test_nothing_is_cut_off_at_the_edges():
    """A long title and a color bar with a power of ten beside it stay inside the picture."""
    picture = gradlab.heat(torch.rand(8, 8), 1e-6 * torch.randn(8, 8), titles="a title wider than its image")
    pixels = png(picture)
    edges = [pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]]
    assert [edge[..., 3].max() for edge in edges] == [0, 0, 0, 0]
