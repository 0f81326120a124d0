// How far apart the dialects are: a map of numbers, near dialects side by side.
"use strict";

const DistancesView = (() => {
  const { make } = Elements;
  const title = () => "Distances";

  function draw(main) {
    const { distances } = FACTS;
    main.replaceChildren(
      make("h1", { class: "title" }, "How far apart the dialects are"),
      make("p", {}, "The share of questions that two dialects answer differently, in percent. Near dialects stand side by side. A cell opens the difference."),
      map(distances),
      distances.closer.map((closer) => [
        make("h2", {}, "Where those with distance 0 differ"),
        make("p", {}, `Compared on ${closer.ops.join(", ")}.`),
        map(closer),
      ]).flat().reduce((all, part) => (all.append(part), all), make("div")),
    );
  }

  function map({ dialects, differ, ops }) {
    const rows = dialects.map((a, y) => make("tr", {}, make("th", { scope: "row" }, a),
      dialects.map((b, x) => cell(a, b, differ[y][x], ops))));
    return make("div", { class: "wide scroll distances" }, make("table", {},
      make("thead", {}, make("tr", {}, make("td", {}), dialects.map((name) => make("th", { scope: "col" }, make("span", {}, name))))),
      make("tbody", {}, rows)));
  }

  function cell(a, b, [asked, differ], ops) {
    if (a === b) return make("td", { class: "same" });
    const share = asked ? differ / asked : 0;
    const percent = share > 0 && share < 0.01 ? "<1" : String(Math.round(100 * share));
    const words = `${a} and ${b}: ${differ.toLocaleString("en")} of ${asked.toLocaleString("en")} differ`;
    return make("td", { style: `--share:${Math.min(1, share).toFixed(3)}` },
      make("a", { href: Explorer.address({ view: "diff", a, b, op: ops[0] }), title: words, "aria-label": words }, percent));
  }

  return { draw, title };
})();
