"""What is done with the explorer in a real browser: python browser.py CHROMIUM FOLDER OUT.json, in a process of its own.

Each check is a function of an open page or browser; FOLDER holds what `test_explorer.py` wrote for it. OUT gets what each
check returned, or what it raised.
"""
import json
import sys
import time
import traceback
import xml.etree.ElementTree as ElementTree
from pathlib import Path

CHECKS = {}


def check(function):
    CHECKS[function.__name__] = function
    return function


def said(page):
    return page.inner_text("#said")


def cells(page, name):
    """The texts of the value and of the delta of a register, as a reader of the list sees them."""
    return [page.locator(f'#list tr[data-r="{name}"] td').nth(k).inner_text().split("\n")[0] for k in (2, 3)]


def use(page, text):
    page.evaluate("document.getElementById('edit').open = true")
    page.wait_for_selector("#text")
    page.evaluate("text => { document.getElementById('text').value = text; document.getElementById('use').click(); }", text)


def problem(page):
    return page.inner_text("#edit .problem")


@check
def operators(page, folder):
    """{every operator of the page: the worst relative error of its cases, or what was raised}."""
    cases = json.loads((folder / "cases.json").read_text())
    return page.evaluate("""cases => {
        const read = a => a !== null && typeof a === "object" && "b" in a ? unpack(a) : decode(a), found = {};
        for (const [op, args, right] of cases) {
            try {
                const x = T(G[op](...args.map(read))), y = unpack(right);
                if (!same(x.s, y.s)) throw new Error(`shape ${x.s} and not ${y.s}`);
                const off = x.a.reduce((m, v, i) => Object.is(v, y.a[i]) || v === y.a[i] || v !== v && y.a[i] !== y.a[i] ? m : Math.max(m, Math.abs(v - y.a[i]) / Math.max(1, Math.abs(y.a[i])) || Infinity), 0);
                if (typeof found[op] !== "string") found[op] = Math.max(found[op] || 0, off === Infinity ? 1e99 : off);
            } catch (error) { found[op] = `${error.message}, case ${JSON.stringify(args)}`; }
        }
        return Object.fromEntries(Object.keys(G).map(op => [op, found[op] ?? "no case"]));
    }""", cases)


@check
def layouts(page, folder):
    """The layout of each graph by the page."""
    return page.evaluate("graphs => graphs.map(graph => layered(...graph))", json.loads((folder / "graphs.json").read_text()))


@check
def derivatives(page, folder):
    """Of each list of the models and each example: the list of its gradient and what that gives, its deltas, and its tangents by each input."""
    page.goto((folder / "models.html").as_uri())
    return page.evaluate("""() => [...DATA.documents, ...DATA.guide].map(raw => {
        const doc = opened(raw), plain = x => ({s: x.s, a: Array.from(x.a)}), sums = r => Object.fromEntries([...r.sums].filter(([, list]) => !list.at(-1).total.parts).map(([name, list]) => [name, plain(list.at(-1).total)]));
        const back = run(doc), tangents = {}, gradient = gradientLines(doc), names = Object.keys(doc.inputs);
        const again = bodyValues({lines: [...doc.lines, ...gradient], params: names}, names.map(x => doc.values.get(x)));
        for (const x of Object.keys(doc.inputs).filter(x => varies(doc.values.get(x)))) { doc.mode = "forward"; doc.along = x; tangents[x] = sums(run(doc)); }
        doc.mode = "reverse";
        return {title: raw.title, stop: back.stop, deltas: sums(back), tangents, gradient, again: Object.fromEntries(gradient.filter(([dst]) => names.some(x => dst === `d${doc.of}_d${x}`)).map(([dst]) => [dst, plain(again.get(dst))]))};
    })""")


@check
def steps_both_ways(page, folder):
    page.select_option("#example", "2")
    told = []
    for key in ["ArrowRight"] * 5 + ["ArrowLeft"] * 2:
        page.keyboard.press(key)
        told.append([said(page), *cells(page, "z3")])
    page.keyboard.press("End")
    told.append([said(page), *cells(page, "y")])
    page.click("#back")
    page.click("#back")
    told.append([said(page), *cells(page, "y")])
    return told


@check
def before_the_backward_pass_no_delta_is_there(page, folder):
    page.select_option("#example", "2")
    page.evaluate("go(5)")
    return [text.split("\n")[0] for text in page.locator("#list tbody td:nth-child(4)").all_inner_texts()], page.locator("#graph .delta").all_text_contents()


@check
def the_delta_of_y_after_each_step(page, folder):
    page.select_option("#example", "2")
    found = []
    for _ in range(page.evaluate("S.run.events.length") - 1):
        page.click("#next")
        found.append([cells(page, "y")[1], said(page)])
    return found


@check
def an_input_is_edited(page, folder):
    page.select_option("#example", "2")
    page.click("#last")
    page.fill("#inputs input >> nth=0", "7")
    page.keyboard.press("Tab")
    first = said(page)
    page.fill("#inputs input >> nth=0", "seven")
    page.keyboard.press("Tab")
    wrong = page.inner_text("#inputs .problem")
    use(page, "def area(h, w):\n    a = mul(h, w)\n    return a\n\nc    = call(area, b)\nall_ = item(c, 0)")
    page.fill("#inputs input", "(.5, [2, 3.],)")
    page.keyboard.press("Tab")
    page.click("#last")
    return first, wrong, said(page), page.input_value("#inputs input")


@check
def a_line_is_edited(page, folder):
    page.select_option("#example", "1")
    use(page, "z1 = divide(h, w)\nk = tanh(z1)\narea = mul(k, c)")
    before = page.inner_text("#notes")
    page.fill("#inputs input >> nth=2", "2")
    page.keyboard.press("Tab")
    page.click("#last")
    return before, said(page), page.inner_text("#formula")


@check
def a_loop_is_stepped_through(page, folder):
    page.goto((folder / "loop.html").as_uri())
    page.evaluate("go(2)")
    told = [said(page)]
    page.click("#list .block .fold")
    waiting = page.locator("#list .block tbody td:nth-child(3)").all_inner_texts()
    page.click("#last")
    page.locator("#list .block input").fill("1")
    told.append(page.locator("#list .block tbody tr").nth(4).inner_text())
    page.evaluate("choose('z1')")
    told.append(page.inner_text("#detail p"))
    page.click("text=Step through these lines")
    page.click("#last")
    told += [page.inner_text("h1"), said(page)]
    page.click("#after")
    told.append(page.inner_text("h1"))
    page.click("#leave")
    told.append(said(page))
    page.evaluate("document.getElementById('gradient').open = true")
    page.click("#onwards")
    page.click("#last")
    told.append(said(page))
    page.click("text=The gradient is a list, too")
    page.select_option("#example", "0")
    use(page, page.evaluate("listText(S.doc.lines).replace('mul(h, w)', 'add(h, w)')"))
    page.click("#last")
    told.append(said(page))
    return waiting, told, page.evaluate("gradientLines(S.doc)")


@check
def the_quiz(page, folder):
    page.select_option("#example", "1")
    page.click("#quiz")
    page.evaluate("go(2)")
    page.click("#next")
    page.fill("#answer", "0")
    page.click("#check")
    wrong = page.inner_text("#verdict")
    page.fill("#answer", "1")
    page.keyboard.press("Enter")
    right = page.inner_text("#verdict")
    page.click("#next")
    page.fill("#answer", "0.5")
    page.click("#check")
    return wrong, right, page.inner_text("#verdict"), said(page), page.locator("#graph .box").count()


@check
def what_is_wrong_is_said(page, folder):
    page.select_option("#example", "1")
    found = {}
    for name, text in {"unknown": "y = mull(x, 2)", "circle": "a = mul(b, x)\nb = half(a)", "itself": "a = add(a, 1)", "twice": "a = half(x)\na = exp(x)", "order": "a = half(b)\nb = exp(x)",
                       "arguments": "y = exp(x, x)", "keyword": "for = half(x)", "None": "None = half(x)", "read": "y = mul(x, lambda)", "word": "def step(float):\n    h1 = half(float)\n    return h1\nb = bundle(x)\nc = call(step, b)", "no line": "y = 3 +", "sign": "y = mul(x, :)", "script": "y = </script><script>alert(1)</script>", "empty": "  ", "megabyte": "y = exp(x" + " " * 1_100_000,
                       "deep": "y = exp(" + "(" * 5000 + ")", "operator": "exp = half(x)", "returns": "def step(h):\n    h1 = half(h)\nz1 = half(x)",
                       "closed": "def step(h):\n    h1 = mul(h, w)\n    return h1\nb = bundle(x)\nc = call(step, b)", "inside": "def step(h):\n    h1 = hlaf(h)\n    return h1\nb = bundle(x)\nc = call(step, b)"}.items():
        use(page, text)
        found[name] = problem(page)
    rules = "['sum(x)', 'sum(x, None)', 'sum(x, y)', 'sum(x, 0)'].map(text => RULES.get('sum').indexOf(ruleFor(parsedLine(`s = ${text}`, new Map()))))"
    found["rules"] = page.evaluate(rules)
    use(page, "y = divide(x, w)")
    page.fill("#inputs input >> nth=0", "1")
    page.keyboard.press("Tab")
    page.fill("#inputs input >> nth=1", "0")
    page.keyboard.press("Tab")
    found["zero"] = page.inner_text("#notes")
    use(page, "y = dot(x, x)")
    found["shapes"] = page.inner_text("#notes")
    use(page, "y = mul(toString, x)")
    found["inherited"] = page.inner_text("#notes")
    page.evaluate("meter.most = 2000")
    use(page, "def on(h):\n    more = greater(h, 0)\n    return more\n\ndef step(h):\n    h1 = mul(h, 2.0)\n    return h1\n\nb = bundle(x)\nc = while_loop(on, step, 1, b)\ny = item(c, 0)")
    found["endless"] = page.inner_text("#notes")
    return found


@check
def keyboard_alone(page, folder):
    """Every control is reached by Tab, in the page's order, and Enter on a name chooses it."""
    page.select_option("#example", "1")
    page.evaluate("document.activeElement.blur()")
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.dataset.r || document.activeElement.textContent"))
    page.evaluate("document.querySelector('#list button.reg').focus()")
    page.keyboard.press("Enter")
    return reached, page.inner_text("#detail h2")


@check
def pictures_are_saved(page, folder):
    page.select_option("#example", "2")
    with page.expect_download() as download:
        page.click("#svg")
    root = ElementTree.fromstring(Path(download.value.path()).read_text("utf-8"))
    return root.tag, len([e for e in root.iter() if e.tag.endswith("rect")])


@check
def a_reader_of_screens(page, folder):
    """What axe finds, by size and by light, for the list that comes first and for the perceptron in the middle of its steps."""
    from axe_playwright_python.sync_playwright import Axe
    found = {}
    for width, light, example in ((1400, "light", "5"), (390, "dark", "2")):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=light)
        page.select_option("#example", example)
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; }); go(14); choose('y')")
        page.wait_for_timeout(250)  # colours change gently
        result = Axe().run(page).response
        found[f"{width}, {light}, {example}"] = [[v["id"], v["nodes"][0]["html"][:120]] for v in result["violations"]]
    return found


@check
def nothing_runs_off_a_narrow_page(page, folder):
    found = []
    for width, example in [*((390, k) for k in "123456"), (1280, "5"), (1280, "6")]:
        page.set_viewport_size({"width": width, "height": 800})
        page.select_option("#example", example)
        page.click("#last")
        assert page.evaluate("(list => list.scrollWidth - list.clientWidth)(document.getElementById('list'))") <= 1, (width, example)
        found.append(page.evaluate("[...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll, pre') && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.id || e.tagName)"))
    return found


@check
def ten_thousand_lines(page, folder):
    page.goto((folder / "long.html").as_uri())
    page.click("#last")
    rows, told = page.locator("#list tr").count(), said(page)
    page.evaluate("go(15000)")
    later = page.locator("#list tr").count(), said(page), page.locator("#graph .box").count()
    page.goto((folder / "models.html").as_uri())
    page.evaluate("open(DATA.documents.find(({title}) => title === 'Layers'))")
    return rows, told, *later, page.locator("#list .fold").all_inner_texts()


@check
def wrong_ways(page, folder):
    """The rows of the table, after a list in which paths meet before a register sends, and one with a bias; a small matrix in a step."""
    tables = []
    for text, values in (("z = mul(2, x)\na = mul(3, z)\nb = mul(z, a)", ["1"]), ("z = add(X, b)\nh = square(z)\nf = sum(h)", ["[[1, 2], [3, 4]]", "[1, 0]"])):
        use(page, text)
        for k, value in enumerate(values):
            page.fill(f"#inputs input >> nth={k}", value)
            page.keyboard.press("Tab")
        page.evaluate("document.getElementById('wrong').open = true")
        page.wait_for_selector("#wrong td")
        tables.append([row.inner_text().split("\t") for row in page.locator("#wrong tbody tr").all()])
    page.evaluate("go(1)")
    told = [said(page)]
    use(page, "p = softmaxCrossEntropy(z, y)\nq = power(p, 2)\nf = sum(q)")
    for k, value in enumerate(("[[1, 2, 3], [4, 5, 6]]", "[[0, 0, 1], [1, 0, 0]]")):
        page.fill(f"#inputs input >> nth={k}", value)
        page.keyboard.press("Tab")
    for k in (5, 6, 7):
        page.evaluate("k => go(k)", k)
        told.append(said(page))
    return *tables, told


@check
def blocks_and_zoom(page, folder):
    width = lambda: page.locator("#graph svg").bounding_box()["width"]
    before = width()
    page.click("[title='Make the graph larger']")
    larger, blocks = width(), page.locator("#block").count()
    page.goto((folder / "long.html").as_uri())
    page.evaluate("go(1)")
    page.click("#block")
    return before, larger, blocks, said(page), page.evaluate("S.doc.groups[0].to")


@check
def what_the_page_does_not_compute(page, folder):
    page.goto((folder / "foreign.html").as_uri())
    page.click("#last")
    before = said(page), *cells(page, "w")
    page.fill("#inputs input >> nth=0", "[[2, 0], [0, 1]]")
    page.keyboard.press("Tab")
    return *before, page.inner_text("#notes")


@check
def the_reason_of_a_number_is_there_until_an_input_changes(page, folder):
    page.goto((folder / "nan.html").as_uri())
    before = page.inner_text("#notes")
    page.fill("#inputs input >> nth=0", "[3.0, 4.0]")
    page.keyboard.press("Tab")
    return before, page.inner_text("#notes")


@check
def pages_in_a_notebook(page, folder):
    page.set_content((folder / "cells.html").read_text("utf-8"))
    told = []
    for k in range(3):
        page.evaluate("k => { document.querySelectorAll('details')[k].open = true; }", k)
        frame = page.frame_locator("iframe").nth(k)
        frame.locator("#last").dispatch_event("click")  # a mouse's may miss a frame of its own process, not drawn yet
        told.append(frame.locator("#said").inner_text())
    return told


@check
def names_that_are_html(page, folder):
    page.goto((folder / "html.html").as_uri())
    return page.inner_text("h1"), page.evaluate("window.stolen === undefined")


def main(chromium, folder, out):
    from playwright.sync_api import sync_playwright
    found = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])  # of root, as CI is
        page, wrong = browser.new_page(), []
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith(("file:", "data:", "blob:", "about:")) else wrong.append(request.url))
        for name, function in CHECKS.items():
            wrong.clear()
            start = time.time()
            try:
                page.set_viewport_size({"width": 1400, "height": 900})
                if page.url != (folder / "page.html").as_uri():
                    page.goto((folder / "page.html").as_uri())
                page.evaluate("S.quiz = null")
                found[name] = {"found": function(page, folder), "wrong": [*wrong]}
            except Exception:
                found[name] = {"raised": traceback.format_exc(), "wrong": [*wrong]}
                page.goto("about:blank")
            found[name]["seconds"] = time.time() - start
        browser.close()
    Path(out).write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
