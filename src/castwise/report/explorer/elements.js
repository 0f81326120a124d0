// Elements of the page, and the parts that several views share.
"use strict";

const Elements = (() => {
  // An element: make("p", {class: "faint"}, "text", another).
  function make(tag, attributes = {}, ...inside) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...inside.flat().filter((part) => part !== null && part !== undefined && part !== ""));
    return element;
  }

  // A dtype in the colour of its kind.
  function dtype(name, text = name) {
    const known = FACTS.dtypes[name.replace("*", "")];
    return make("span", { class: "dtype", style: known ? `--shade:${known.shade}` : null }, text);
  }

  // The first thing that is shown of an answer.
  function result(answer) {
    const text = Words.short(answer);
    if (answer.kind !== "decided") return make("span", { class: `none ${answer.kind}` }, text);
    return dtype(answer.result, text);
  }

  function hazards(answer) {
    return Words.hazardsOf(answer).map((hazard) => make("span", { class: "hazard", title: FACTS.hazards[hazard] }, hazard));
  }

  // A labelled choice: options are [value, text], or groups [name, [[value, text], …]].
  function choice(label, value, options, onchange) {
    const made = options.map(([of, text]) =>
      Array.isArray(text)
        ? make("optgroup", { label: of }, text.map((pair) => option(pair, value)))
        : option([of, text], value),
    );
    const select = make("select", { onchange: () => onchange(select.value) }, made);
    return make("label", {}, make("span", {}, label), select);
  }

  const option = ([of, text], value) => make("option", { value: of, selected: of === value }, text);

  const dialectOptions = () => Object.keys(FACTS.dialects).map((name) => [name, name]);

  // The ops by family.
  function opOptions(isWanted = () => true) {
    const families = new Map();
    for (const [name, op] of Object.entries(FACTS.ops)) {
      if (!isWanted(op)) continue;
      if (!families.has(op.family)) families.set(op.family, []);
      families.get(op.family).push([name, op.symbol ? `${name}  ${op.symbol}` : name]);
    }
    return [...families];
  }

  // The dtypes by kind.
  function dtypeOptions(names = Object.keys(FACTS.dtypes)) {
    const kinds = new Map();
    for (const name of names) {
      const { kind } = FACTS.dtypes[name];
      if (!kinds.has(kind)) kinds.set(kind, []);
      kinds.get(kind).push([name, name]);
    }
    return [...kinds];
  }

  async function copy(text, said) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = make("textarea", { class: "hidden" }, text); // a page from disk may have no clipboard
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    say(said);
  }

  // Tells everybody: in a note that goes by itself, which screen readers read.
  function say(text) {
    const note = document.getElementById("said");
    note.textContent = text;
    clearTimeout(say.timer);
    say.timer = setTimeout(() => (note.textContent = ""), 4000);
  }

  return { make, dtype, result, hazards, choice, dialectOptions, opOptions, dtypeOptions, copy, say };
})();
