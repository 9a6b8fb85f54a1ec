"""Check that everyone can read and use a page: axe-core's rules, and the contrast of texts in pictures.

axe does not read colors inside an SVG, so the tests measure those as the browser computes them.
"""

from collections.abc import Sequence

CONTRAST = 4.5  # of text and its background, as WCAG asks

FAINT = """least => {
    const dot = document.createElement('canvas').getContext('2d', {willReadFrequently: true}), known = new Map();
    const rgba = color => {
        if (!known.has(color)) {
            dot.clearRect(0, 0, 1, 1);
            dot.fillStyle = color;
            dot.fillRect(0, 0, 1, 1);
            const [r, g, b, a] = dot.getImageData(0, 0, 1, 1).data;
            known.set(color, [r, g, b, a / 255]);
        }
        return known.get(color);
    };
    const over = (front, back) => back.map((c, i) => front[i] * front[3] + c * (1 - front[3]));
    const light = rgb => rgb.map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const above = function* (e, end) { for (; e && e !== end; e = e.parentElement) yield e; };
    const paint = (e, svg) => {
        const [r, g, b, a] = rgba(getComputedStyle(e).fill);
        return [...above(e, svg)].reduce(
            (color, at) => (color[3] *= getComputedStyle(at).opacity, color),
            [r, g, b, a * getComputedStyle(e).fillOpacity]);
    };
    const ground = e => [...above(e)].reverse().map(at => rgba(getComputedStyle(at).backgroundColor))
        .reduce((back, front) => over(front, back), [255, 255, 255]);
    const seen = e => getComputedStyle(e).visibility === 'visible' && e.getClientRects().length && e.textContent.trim();
    return [...document.querySelectorAll('svg.gl')].flatMap(svg => {
        const shapes = [...svg.querySelectorAll('rect, circle')]
            .filter(shape => getComputedStyle(shape).fill !== 'none')
            .map(shape => [shape, shape.getBoundingClientRect()]);
        return [...svg.querySelectorAll('text')].filter(seen).flatMap(text => {
            const box = text.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
            const back = shapes
                .filter(([shape, at]) => at.left < x && x < at.right && at.top < y && y < at.bottom
                    && shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING)
                .reduce((back, [shape]) => over(paint(shape, svg), back), ground(svg));
            const [one, other] = [light(over(paint(text, svg), back)), light(back)];
            const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
            return contrast < least ? [`${text.textContent.trim()}: ${contrast.toFixed(2)}`] : [];
        });
    });
}"""


def faint_texts(page) -> list[str]:
    """The texts in the page's pictures that stand out less than CONTRAST from what is behind them."""
    return page.evaluate(FAINT, CONTRAST)


def violations(page, within: str, without: Sequence[str] = (), rules: Sequence[str] = ()) -> list[str]:
    """What axe-core objects to within the elements of a selector, one sentence an element; by all rules or by some."""
    from axe_playwright_python.sync_playwright import Axe  # imported only where it is used, like Playwright

    options = {"resultTypes": ["violations"], "runOnly": list(rules)} if rules else {"resultTypes": ["violations"]}
    context = {"include": [[within]], "exclude": [[one] for one in without]}
    return [
        f"{rule['id']} at {' '.join(map(str, node['target']))}: {node['failureSummary']}"
        for rule in Axe().run(page, context, options).response["violations"]
        for node in rule["nodes"]
    ]
