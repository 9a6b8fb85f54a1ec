"""Heat maps: overlays share one scale and are readable in both themes."""

import io

import numpy as np
import pytest
import torch
from matplotlib.image import imread

import gradlab
from gradlab.pictures.picture import PictureError


def words(map):
    """What the text alternative says of a map, without its sizes."""
    return gradlab.heat(np.zeros((8, 8)), np.array(map, float)).text.split(", ", 1)[1]


def spot(row, column, size=32, width=3.0):
    """A round spot of height 1."""
    rows, columns = np.mgrid[:size, :size]
    return np.exp(-((rows - row) ** 2 + (columns - column) ** 2) / (2 * width**2))


def test_it_says_how_large_the_map_is_and_where():
    saliency = torch.zeros(8, 8)
    saliency[5, 2] = 0.5
    picture = gradlab.heat(torch.rand(1, 1, 8, 8), saliency.requires_grad_(), titles="saliency")
    assert picture.text == "saliency: 8 × 8 pixels; map 8 × 8, up to 0.5, mostly in the lower left."


@pytest.mark.parametrize(
    ("map", "said"),
    [
        (np.zeros((3, 3)), "0 everywhere."),
        (np.full((3, 3), np.nan), "no finite value."),
        ([[np.nan, 0], [np.inf, 2]], "up to 2, mostly in the lower right; not finite: 2 of 4 values."),
        ([[np.nan, 0], [0, 0]], "0 everywhere; not finite: 1 of 4 values."),
        ([[3]], "up to 3, mostly in the middle."),
        ([[-3]], "down to −3, mostly in the middle."),
        (np.full((8, 8), 2), "up to 2, not in one place."),
        (np.eye(8), "up to 1, not in one place."),
        ([[-3, 0, 0], [0, 0, 0], [0, 0, 1]], "from −3, mostly in the upper left, to 1, mostly in the lower right."),
        ([[1e-30, 0]], "up to 1e-30, mostly on the left."),
        ([[1e300, 0]], "up to 1e+300, mostly on the left."),
        (1234.5 * spot(16, 16), "up to 1200, mostly in the middle."),
        (spot(5, 16) + spot(27, 16), "up to 1, not in one place."),
    ],
)
def test_it_says_what_there_is_of_odd_maps_too(map, said):
    assert words(map) == said


def test_a_spot_is_where_it_is_seen():
    said = [[words(spot(row, column)) for column in (5, 16, 27)] for row in (5, 16, 27)]
    assert [[text.removeprefix("up to 1, mostly ").rstrip(".") for text in row] for row in said] == [
        ["in the upper left", "at the top", "in the upper right"],
        ["on the left", "in the middle", "on the right"],
        ["in the lower left", "at the bottom", "in the lower right"],
    ]


def test_the_last_digits_of_a_map_change_no_word():
    """Two spots of almost the same height: which is the larger one is nothing that is said."""
    noise = np.random.default_rng(0)
    for map in (
        spot(8, 8) + spot(12, 12),
        spot(8, 8) - spot(24, 24),
        np.kron(spot(1, 1, 4, 1), np.ones((8, 8))),
        np.abs(noise.normal(size=(32, 32))),
        spot(20, 9) - 1e-17,
    ):
        assert {words(map * (1 + 1e-5 * noise.normal(size=map.shape))) for _ in range(50)} == {words(map)}


def test_maps_of_a_grid_share_one_scale():
    """Colours can be compared between pictures; maps with negative values get a scale that is even about zero."""
    figure = gradlab.heat([torch.rand(6, 6)] * 3, [torch.full((6, 6), k) for k in (1.0, 2.0, 4.0)], columns=2).figure()
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
    assert imread(io.BytesIO(picture._repr_mimebundle_()["image/png"]))[0, 0, 3] == 0
    again = gradlab.heat(image, map)
    assert picture._repr_mimebundle_() == again._repr_mimebundle_()


def test_images_of_all_usual_shapes():
    for shape in ((6, 7), (1, 6, 7), (3, 6, 7), (1, 3, 6, 7), (1, 1, 6, 7)):
        assert gradlab.heat(torch.rand(shape), torch.rand(1, 1, 3, 3)).text.startswith("image 1: 6 × 7 pixels")
    assert gradlab.heat(list(torch.rand(2, 3, 6, 7))).text.splitlines()[1] == "image 2: 6 × 7 pixels."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((torch.rand(5),), r"an image has the shape \(H, W\) or \(C, H, W\)"),
        (
            (torch.rand(5, 5), [torch.rand(3, 5, 5)]),
            r"a map has the shape \(h, w\), not \(3, 5, 5\)\. Sum or take the max",
        ),
        (
            (list(torch.rand(2, 5, 5)), torch.rand(5, 5)),
            r"as many maps and titles as images \(2\), not 1 and 2",
        ),
    ],
)
def test_bad_input_gets_one_clear_sentence(arguments, message):
    with pytest.raises(PictureError, match=message):
        gradlab.heat(*arguments)
