// A dialect's lattice: choose a dtype to see what reaches it, and what it reaches.
"use strict";

const LatticeView = (() => {
  const { make, choice } = Elements;

  const chosen = (state) => (FACTS.dialects[state.dialect] ? state.dialect : Object.hasOwn(FACTS.dialects, "jax") ? "jax" : Object.keys(FACTS.dialects)[0]);
  const title = (state) => `Lattice of ${chosen(state)}`;

  async function draw(main, state, { isLate }) {
    if (typeof LATTICES === "undefined") await Answers.script("data/lattices.js");
    if (isLate()) return;
    const dialect = chosen(state);
    const holder = make("div", { class: "picture lattice" });
    holder.innerHTML = LATTICES[dialect];
    const focused = document.activeElement?.closest("[data-dtypes]")?.dataset.dtypes;
    main.replaceChildren(
      make("h1", { class: "title" }, `What reaches what in ${dialect}`),
      make("div", { class: "pickers" }, choice("dialect", dialect, Elements.dialectOptions(), (name) => Explorer.go({ view: "lattice", dialect: name }))),
      make("p", { id: "readout", class: "readout", "aria-live": "polite" }, "Choose a dtype."),
      holder,
    );
    prepare(holder, dialect, state.dtype);
    if (focused) holder.querySelector(`[data-dtypes="${CSS.escape(focused)}"]`)?.focus();
  }

  function prepare(holder, dialect, wanted) {
    holder.querySelector("svg").setAttribute("role", "group");
    for (const box of holder.querySelectorAll("[data-dtypes]")) {
      const [first] = box.dataset.dtypes.split(" ");
      box.setAttribute("tabindex", "0");
      box.setAttribute("role", "button");
      box.setAttribute("aria-pressed", String(box.dataset.dtypes.split(" ").includes(wanted)));
      box.setAttribute("aria-label", box.dataset.dtypes.replaceAll(" ", ", "));
      const choose = () => Explorer.go({ view: "lattice", dialect, dtype: first === wanted ? "" : first }, { replaces: true });
      box.addEventListener("click", choose);
      box.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        choose();
      });
    }
    const { reaches } = FACTS.dialects[dialect];
    if (reaches[wanted]) highlight(holder, reaches, wanted);
  }

  function highlight(holder, reaches, wanted) {
    const above = reaches[wanted];
    const below = Object.keys(reaches).filter((name) => reaches[name].includes(wanted));
    const lit = new Set([wanted, ...above, ...below]);
    holder.classList.add("chosen");
    for (const box of holder.querySelectorAll("[data-dtypes]")) {
      box.classList.toggle("lit", box.dataset.dtypes.split(" ").some((name) => lit.has(name)));
    }
    for (const arrow of holder.querySelectorAll("path[data-to]")) {
      const isFrom = arrow.dataset.from.split(" ").some((name) => lit.has(name));
      arrow.classList.toggle("lit", isFrom && arrow.dataset.to.split(" ").some((name) => lit.has(name)));
    }
    const list = (names) => (names.length ? names.join(", ") : "nothing");
    document.getElementById("readout").textContent = `${wanted} reaches ${list(above)}. It is reached by ${list(below)}.`;
  }

  return { draw, title };
})();
