// The page: its state is its address, and each view draws a state.
"use strict";

const Explorer = (() => {
  const VIEWS = { answers: AnswersView, table: TableView, diff: DiffView, lattice: LatticeView, distances: DistancesView };
  const main = document.getElementById("main");
  let drawn = 0; // the number of the last drawing: an older one that is late does not show

  // What the address says, each part a text.
  function state() {
    return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  }

  // The address of a state; parts that are empty are left out, but for a question that somebody emptied.
  function address(parts) {
    const kept = Object.entries(parts).filter(([name, value]) => value || (name === "q" && value === ""));
    return `#${new URLSearchParams(kept)}`;
  }

  // Goes to a state. Typing replaces the address, going somewhere adds to the history.
  function go(parts, { replaces = false } = {}) {
    const whole = { ...parts, embed: state().embed };
    if (replaces) history.replaceState(null, "", address(whole));
    else history.pushState(null, "", address(whole));
    return draw();
  }

  async function draw() {
    const parts = state();
    const name = Object.hasOwn(VIEWS, parts.view ?? "") ? parts.view : "answers";
    const number = ++drawn;
    document.body.classList.toggle("embedded", Boolean(parts.embed));
    for (const link of document.querySelectorAll("nav a[data-view]")) {
      if (link.dataset.view === name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.getElementById("whole").href = address({ ...parts, embed: "" });
    document.title = `${VIEWS[name].title(parts)} · castwise explorer`;
    const isSame = main.dataset.view === name;
    main.dataset.view = name;
    main.setAttribute("aria-busy", "true");
    try {
      await VIEWS[name].draw(main, parts, { isSame, isLate: () => number !== drawn });
    } catch (error) {
      main.replaceChildren(Elements.make("p", { class: "refused" }, `This cannot be shown: ${error.message}`));
    }
    if (number === drawn) main.removeAttribute("aria-busy");
  }

  function follow(event) {
    const link = event.target.closest("a[href^='#']");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || link.classList.contains("skip")) return;
    event.preventDefault();
    go(Object.fromEntries(new URLSearchParams(link.getAttribute("href").slice(1))));
    if (link.dataset.view) main.focus({ preventScroll: true });
  }

  const THEMES = ["light", "dark"];

  function theme(name) {
    document.documentElement.dataset.theme = name;
    try {
      localStorage.setItem("castwise theme", name);
    } catch {
      // A page from disk may have no storage: the choice lasts as long as the page.
    }
  }

  function start() {
    let kept = null;
    try {
      kept = localStorage.getItem("castwise theme");
    } catch {
      // As above.
    }
    if (THEMES.includes(kept)) document.documentElement.dataset.theme = kept;
    document.getElementById("theme").addEventListener("click", () => {
      const isDark = getComputedStyle(document.body).getPropertyValue("--is-dark").trim() === "1";
      theme(isDark ? "light" : "dark");
    });
    document.getElementById("share").addEventListener("click", () => Elements.copy(location.href, "The address of this view is copied."));
    document.getElementById("embed").addEventListener("click", () => {
      const whole = location.href.split("#")[0] + address({ ...state(), embed: "1" });
      const title = document.title.replaceAll('"', "&quot;");
      Elements.copy(`<iframe src="${whole}" title="${title}" width="100%" height="420" loading="lazy"></iframe>`, "The code that embeds this view is copied.");
    });
    document.addEventListener("click", follow);
    document.addEventListener("keydown", (event) => {
      const isTyping = event.target.closest("input, textarea, select");
      if (event.key === "/" && !isTyping) {
        event.preventDefault();
        document.getElementById("question")?.focus();
      }
    });
    window.addEventListener("popstate", draw);
    window.addEventListener("hashchange", draw);
    draw();
  }

  return { go, address, state, start };
})();

Explorer.start();
