// A dialect's whole table for an op.
"use strict";

const TableView = (() => {
  const { make, choice } = Elements;
  const COLUMNS = { arrays: "arrays", "0-d": "0-d arrays", numbers: "Python numbers" };
  const NUMBERS = ["True", "1", "-1", "300", "1.5", "1e39", "1j"];

  const chosen = (state) => {
    const dialect = FACTS.dialects[state.dialect] ? state.dialect : Object.keys(FACTS.dialects).includes("torch") ? "torch" : Object.keys(FACTS.dialects)[0];
    const op = FACTS.ops[state.op] ? state.op : "add";
    const { forms } = FACTS.ops[op];
    return { dialect, op, form: forms[state.form] ? state.form : Object.keys(forms)[0], columns: COLUMNS[state.columns] ? state.columns : "arrays" };
  };

  const title = (state) => `${chosen(state).op} in ${chosen(state).dialect}`;

  async function draw(main, state, { isLate }) {
    const now = chosen(state);
    await Answers.load(now.op, now.form);
    if (isLate()) return;
    const go = (change) => Explorer.go({ view: "table", ...now, ...change });
    const forms = Object.keys(FACTS.ops[now.op].forms);
    const isUnary = FACTS.ops[now.op].arity[1] === 1;
    const focused = [...main.querySelectorAll("select")].indexOf(document.activeElement);
    main.replaceChildren(
      make("h1", { class: "title" }, `${now.op} in ${now.dialect}`),
      make("p", { class: "faint" }, FACTS.dialects[now.dialect].about),
      make("div", { class: "pickers" },
        choice("dialect", now.dialect, Elements.dialectOptions(), (dialect) => go({ dialect })),
        choice("op", now.op, Elements.opOptions(), (op) => go({ op })),
        forms.length > 1 ? choice("form", now.form, forms.map((form) => [form, form]), (form) => go({ form })) : "",
        isUnary ? "" : choice("columns", now.columns, Object.entries(COLUMNS), (columns) => go({ columns }))),
      make("p", { id: "readout", class: "readout", "aria-live": "polite" }, "Move over the table, or go through it with the arrow keys. Enter opens an answer."),
      make("div", { class: "wide grid scroll" }, table(now)),
    );
    if (focused >= 0) main.querySelectorAll("select")[focused]?.focus();
  }

  function table({ dialect, op, form, columns }) {
    const { dtypes } = FACTS.dialects[dialect];
    const rows = dtypes.map((name) => `${name}[n]`);
    const heads = FACTS.ops[op].arity[1] === 1 ? [""] : { arrays: rows, "0-d": dtypes.map((name) => `${name}[]`), numbers: NUMBERS }[columns];
    const body = rows.map((left, y) => make("tr", {}, make("th", { scope: "row" }, short(left)),
      heads.map((right, x) => cell(questionOf(op, form, left, right), dialect, x, y))));
    const grid = make("table", { onmouseover: lit, onfocusin: lit, onmouseleave: unlit, onkeydown: moved, onclick: opened },
      make("caption", { class: "faint" }, "Rows are the first operand, columns the second. · refused, † promoted and then without a kernel on the CPU, * weakly typed."),
      make("thead", {}, make("tr", {}, make("td", {}), heads.map((head) => make("th", { scope: "col" }, short(head))))),
      make("tbody", {}, body));
    return grid;
  }

  // An operand or a result as a table has room for it.
  function short(text) {
    const [, name, rest] = /^([A-Za-z]\w*)(.*)$/.exec(text) ?? [null, text, ""];
    return `${FACTS.dtypes[name]?.short ?? name}${rest.replace("[n]", "")}`;
  }

  // The op with a pair of operands; a condition comes first where there is one.
  function questionOf(op, form, left, right) {
    const { arity, conditionFirst } = FACTS.ops[op];
    const words = conditionFirst ? ["bool[n]", left, right] : [left, right, right].slice(0, Math.max(2, arity[0])).slice(0, arity[1]);
    const read = (word) => Notation.read(`add(${word}, ${word})`).operands[0];
    return { op, form, operands: words.map(read) };
  }

  function cell(question, dialect, x, y) {
    const answer = Answers.look(dialect, question);
    const text = answer.kind === "decided" ? short(Words.short(answer)) : { refused: "·", lacking: "", senseless: "", unasked: "?" }[answer.kind];
    const flags = answer.kind === "decided" && !answer.runs ? "†" : "";
    const known = FACTS.dtypes[answer.result];
    return make("td", {
      class: known ? null : "none", style: known ? `--shade:${known.shade}` : null, tabindex: x || y ? -1 : 0,
      "data-x": x, "data-y": y, "data-q": Notation.writeQuestion(question),
      "aria-label": `${Notation.writeQuestion(question)}: ${Words.short(answer)}${flags && ", no kernel"}`,
    }, `${text}${flags}`);
  }

  function lit({ target }) {
    const at = target.closest("td[data-q]");
    if (!at) return;
    const grid = at.closest("table");
    unlit({ currentTarget: grid });
    for (const other of grid.querySelectorAll(`td[data-x="${at.dataset.x}"], td[data-y="${at.dataset.y}"]`)) other.classList.add("lit");
    grid.tHead.rows[0].cells[Number(at.dataset.x) + 1].classList.add("lit");
    at.parentElement.cells[0].classList.add("lit");
    document.getElementById("readout").textContent = at.getAttribute("aria-label");
  }

  function unlit({ currentTarget }) {
    for (const other of currentTarget.querySelectorAll(".lit")) other.classList.remove("lit");
  }

  const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  function moved(event) {
    const at = event.target.closest("td[data-q]");
    if (!at) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      opened(event);
    }
    const step = STEPS[event.key];
    if (!step) return;
    const [x, y] = [Number(at.dataset.x) + step[0], Number(at.dataset.y) + step[1]];
    const next = event.currentTarget.querySelector(`td[data-x="${x}"][data-y="${y}"]`);
    if (!next) return;
    event.preventDefault();
    at.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  function opened({ target }) {
    const at = target.closest("td[data-q]");
    const { dialect } = chosen(Explorer.state());
    if (at) Explorer.go({ q: at.dataset.q, ref: dialect, open: dialect });
  }

  return { draw, title, questionOf, NUMBERS };
})();
