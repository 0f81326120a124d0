// Where two dialects differ about an op, in groups.
"use strict";

const DiffView = (() => {
  const { make, choice, dtype } = Elements;

  function chosen(state) {
    const names = Object.keys(FACTS.dialects);
    const op = FACTS.ops[state.op] ? state.op : "add";
    const { forms } = FACTS.ops[op];
    return {
      a: names.includes(state.a) ? state.a : names.includes("numpy") ? "numpy" : names[0],
      b: names.includes(state.b) ? state.b : names.includes("torch") ? "torch" : names.at(-1),
      op, form: forms[state.form] ? state.form : Object.keys(forms)[0],
    };
  }

  const title = (state) => `${chosen(state).a} and ${chosen(state).b}: ${chosen(state).op}`;

  async function draw(main, state, { isLate }) {
    const now = chosen(state);
    await Answers.load(now.op, now.form);
    if (isLate()) return;
    const go = (change) => Explorer.go({ view: "diff", ...now, ...change });
    const forms = Object.keys(FACTS.ops[now.op].forms);
    const { asked, groups, count } = compared(now);
    const focused = [...main.querySelectorAll("select")].indexOf(document.activeElement);
    main.replaceChildren(
      make("h1", { class: "title" }, `${now.op}: ${now.a} and ${now.b}`),
      make("div", { class: "pickers" },
        choice("first", now.a, Elements.dialectOptions(), (a) => go({ a })),
        choice("second", now.b, Elements.dialectOptions(), (b) => go({ b })),
        make("button", { type: "button", onclick: () => go({ a: now.b, b: now.a }) }, "swap"),
        choice("op", now.op, Elements.opOptions(), (op) => go({ op })),
        forms.length > 1 ? choice("form", now.form, forms.map((form) => [form, form]), (form) => go({ form })) : ""),
      make("p", { class: "headline", role: "status" }, count
        ? `${count.toLocaleString("en")} of ${asked.toLocaleString("en")} questions are answered differently, in ${groups.length} groups.`
        : `All ${asked.toLocaleString("en")} questions are answered alike.`),
      make("div", { class: "groups" }, groups.map((group) => drawn(group, now))),
    );
    if (focused >= 0) main.querySelectorAll("select")[focused]?.focus();
  }

  // The questions about dtypes that both have: arrays, 0-d arrays and numbers, in both orders.
  function questions({ a, b, op, form }) {
    const shared = FACTS.dialects[a].dtypes.filter((name) => FACTS.dialects[b].dtypes.includes(name));
    const arrays = [...shared.map((name) => `${name}[n]`), ...shared.map((name) => `${name}[]`)];
    if (FACTS.ops[op].arity[1] === 1) return arrays.map((array) => TableView.questionOf(op, form, array, array));
    const pairs = arrays.flatMap((left) => [...arrays, ...TableView.NUMBERS].map((right) => [left, right]));
    const flipped = form === "operator" || form === "function" ? TableView.NUMBERS.flatMap((left) => arrays.map((right) => [left, right])) : [];
    return [...pairs, ...flipped].map(([left, right]) => TableView.questionOf(op, form, left, right));
  }

  function compared(now) {
    const groups = new Map();
    let asked = 0;
    let count = 0;
    for (const question of questions(now)) {
      const answers = [now.a, now.b].map((name) => Answers.look(name, question));
      if (answers.some(({ kind }) => kind === "unasked")) continue;
      asked += 1;
      const [first, second] = answers.map(plain);
      if (first === second) continue;
      count += 1;
      const key = `${mixOf(question)}|${treated(first)}|${treated(second)}`;
      if (!groups.has(key)) groups.set(key, { mix: mixOf(question), found: [] });
      groups.get(key).found.push({ question, first, second });
    }
    const sorted = [...groups.values()].sort((x, y) => y.found.length - x.found.length);
    return { asked, count, groups: sorted };
  }

  // Weakness is not a difference: only some dialects have it.
  const plain = (answer) => (answer.kind === "decided" ? answer.result : "refused");
  const treated = (text) => (text === "refused" ? text : FACTS.dtypes[text].kind);

  // What is mixed, in words and in any order: "int with Python float".
  function mixOf({ operands }) {
    const words = operands.map(({ role, dtype: name, number }) => (role === "number" ? `Python ${number.kind}` : FACTS.dtypes[name].kind));
    const [first, ...others] = [...new Set(words)].sort((x, y) => x.startsWith("Python") - y.startsWith("Python") || x.localeCompare(y));
    return others.length ? `${first} with ${others.join(" and ")}` : `${first} alone`;
  }

  function drawn({ mix, found }, { a, b }) {
    const pairs = new Map();
    for (const one of found) {
      const key = `${one.first} ${one.second}`;
      pairs.set(key, [...(pairs.get(key) ?? []), one]);
    }
    const results = [...pairs.values()].slice(0, 3).map(([{ first, second }]) => make("span", { class: "pair" }, shown(first), " / ", shown(second)));
    const more = pairs.size > 3 ? make("span", { class: "faint" }, `and ${pairs.size - 3} more`) : "";
    const list = make("ul", { class: "plain cells" });
    const fold = make("details", { ontoggle: () => fill(list, found, a, b) },
      make("summary", {}, make("strong", {}, mix), " ", results, more, make("span", { class: "count" }, found.length.toLocaleString("en"))), list);
    return fold;
  }

  const shown = (text) => (text === "refused" ? make("span", { class: "none refused" }, text) : dtype(text));

  function fill(list, found, a, b) {
    if (list.childElementCount) return;
    list.append(...found.map(({ question, first, second }) => {
      const q = Notation.writeQuestion(question);
      return make("li", {}, make("a", { href: Explorer.address({ q, ref: a, d: `${a},${b}`, open: `${a},${b}` }) }, make("code", {}, q)), " ", shown(first), " / ", shown(second));
    }));
  }

  return { draw, title };
})();
