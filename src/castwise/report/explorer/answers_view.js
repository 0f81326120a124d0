// What every dialect answers to one question, side by side.
"use strict";

const AnswersView = (() => {
  const { make, dtype, result, hazards, choice, copy } = Elements;
  const FIRST = "int32[n] + 5.5";
  const EXAMPLES = [
    FIRST, "uint8[n] + 300", "int64[n] / int64[n]", "float32[n] * np.float64(2.0)", "int8[n] + uint8[n]",
    "float16[n] + float32[]", "int64[n] += 2.5", "mean(int32[n])", "where(bool[n], int8[n], 1.5)",
  ];
  const ROLES = { array: "array", "0-d": "0-d array", number: "Python number", numpy: "NumPy array", scalar: "NumPy scalar", weak: "weak array" };
  let parts = {};

  const title = ({ q }) => q || FIRST;

  async function draw(main, state, { isSame, isLate }) {
    parts = { ...state, q: state.q ?? FIRST };
    if (!isSame) main.replaceChildren(...skeleton());
    const area = document.getElementById("question");
    if (document.activeElement !== area) area.value = parts.q;
    let question;
    try {
      question = Notation.read(parts.q);
    } catch (error) {
      if (!(error instanceof Notation.Unreadable)) throw error;
      const [op, form] = Notation.begun(parts.q); // its data are there before the last key
      if (op && FACTS.ops[op].forms[form]) Answers.load(op, form);
      showProblem(error);
      return;
    }
    await Answers.load(question.op, question.form);
    if (isLate()) return;
    showPickers(question);
    showAnswers(question);
  }

  function skeleton() {
    const area = make("textarea", {
      id: "question", rows: 1, placeholder: FIRST, spellcheck: "false", autocapitalize: "off", autocomplete: "off",
      "aria-describedby": "problem", oninput: typed, onpaste: pasted,
    });
    return [
      make("section", { class: "ask" },
        make("h1", { class: "title" }, make("label", { for: "question" }, "What comes out of this, in each framework?")),
        area,
        make("p", { id: "problem", class: "refused" }),
        make("p", { id: "read", class: "faint" }),
        make("details", { class: "picking", open: window.innerWidth > 640 }, make("summary", {}, "Pick its parts"), make("div", { id: "pickers", class: "pickers" })),
        make("p", { class: "examples" }, make("span", { class: "faint" }, "Try "),
          EXAMPLES.map((text) => make("a", { href: Explorer.address({ q: text }) }, make("code", {}, text)))),
        make("p", { class: "faint hint" }, "Type an expression, pick its parts, or paste a traceback.")),
      make("section", { id: "summary", "aria-live": "polite" }),
      make("div", { id: "dialects" }),
    ];
  }

  function typed({ target }) {
    document.getElementById("read").textContent = "";
    Explorer.go({ ...parts, q: target.value }, { replaces: true });
  }

  // Pasted lines are a traceback; a single line is one where it reads as no question.
  async function pasted(event) {
    const text = event.clipboardData.getData("text");
    if (!text.trim().includes("\n") && !/Error\b/.test(text)) return;
    event.preventDefault();
    await readTraceback(text);
  }

  async function readTraceback(text) {
    if (typeof MESSAGES === "undefined") await Answers.script("data/messages.js");
    const read = Tracebacks.read(text, MESSAGES);
    const note = document.getElementById("read");
    const asked = read?.nearest ?? null;
    if (!asked) {
      note.textContent = read?.sentence
        ? `Read “${read.sentence}”, which does not tell both the op and its dtypes. Complete it by hand.`
        : "No message about dtypes was found in what was pasted.";
      return;
    }
    document.getElementById("question").value = asked;
    const where = read.dialect ? ` under ${read.dialect}` : "";
    note.textContent = `Read from “${read.sentence}”${where}.`;
    await Explorer.go({ ...parts, q: asked, ref: read.dialect ?? "", open: read.dialect ?? "" });
  }

  function showProblem(error) {
    const command = error instanceof Notation.Unanswered ? [" Ask on the command line: ", commandFor(parts.ref || "numpy", parts.q)] : [];
    document.getElementById("problem").replaceChildren(error.message, ...command);
    document.getElementById("summary").replaceChildren();
    document.getElementById("dialects").replaceChildren();
  }

  const commandFor = (dialect, text) => make("code", {}, `castwise explain ${dialect} "${text}"`);

  // ---- picking

  function showPickers(question) {
    document.getElementById("problem").textContent = "";
    const pickers = document.getElementById("pickers");
    if (pickers.contains(document.activeElement) && document.activeElement.matches("input")) return;
    const focused = [...pickers.querySelectorAll("select, input")].indexOf(document.activeElement);
    const { forms, arity, operands: names } = FACTS.ops[question.op];
    pickers.replaceChildren(
      choice("op", question.op, Elements.opOptions(), (op) => pick((now) => withOp(now, op))),
      Object.keys(forms).length > 1
        ? choice("as", question.form, Object.keys(forms).map((form) => [form, formText(question.op, form)]), (form) => pick((now) => ({ ...now, form })))
        : "",
      ...question.operands.map((operand, place) => operandPicker(operand, place, names[place])),
      question.operands.length < arity[1]
        ? make("button", { type: "button", onclick: () => pick((now) => ({ ...now, operands: [...now.operands, arrayOf("float32")] })) }, "add an operand")
        : "",
    );
    if (focused >= 0) pickers.querySelectorAll("select, input")[focused]?.focus();
  }

  function formText(op, form) {
    const { symbol } = FACTS.ops[op];
    return { operator: `x ${symbol} y`, function: `${op}(x, y)`, augmented: `x ${symbol}= y`, inplace: `x.${op}_(y)` }[form];
  }

  const arrayOf = (name, sizes = ["n"]) => ({ role: "array", dtype: name, isWeak: false, isNumPy: false, sizes });

  function withOp(question, op) {
    const { arity, forms, conditionFirst } = FACTS.ops[op];
    const given = question.operands.slice(0, arity[1]);
    while (given.length < arity[0]) given.push(arrayOf("float32"));
    if (conditionFirst && !FACTS.ops[question.op].conditionFirst) given.splice(0, arity[1], arrayOf("bool"), ...question.operands.slice(0, arity[1] - 1));
    while (given.length < arity[0]) given.push(arrayOf("float32"));
    return { op, form: forms[question.form] ? question.form : Object.keys(forms)[0], operands: given };
  }

  function operandPicker(operand, place, name) {
    const put = (changed) => pick((now) => ({ ...now, operands: now.operands.with(place, changed) }));
    const role = roleOf(operand);
    const label = name ?? ["x", "y", "z"][place];
    const value = role === "number" || role === "scalar"
      ? numberField(label, operand, put)
      : "";
    const kind = role === "number" ? "" : choice(`dtype of ${label}`, operand.dtype, Elements.dtypeOptions(), (found) => put(withDtype(operand, found)));
    return make("fieldset", {}, make("legend", {}, label),
      choice(`${label} is`, role, Object.entries(ROLES), (chosen) => put(inRole(operand, chosen))), kind, value);
  }

  function numberField(label, operand, put) {
    const field = make("input", {
      value: Numbers.write(operand.number), "aria-label": `value of ${label}`, size: 8,
      oninput: () => {
        const number = Numbers.read(field.value.trim());
        const held = number && operand.role === "NumPy scalar" ? Numbers.held(number, operand.dtype) : number;
        field.setAttribute("aria-invalid", String(!held));
        if (held) put({ ...operand, number: held });
      },
    });
    return field;
  }

  function roleOf({ role, isWeak, isNumPy, sizes }) {
    if (role !== "array") return role === "number" ? "number" : "scalar";
    if (isNumPy) return "numpy";
    return isWeak ? "weak" : sizes?.length === 0 ? "0-d" : "array";
  }

  function inRole(operand, role) {
    const name = operand.dtype ?? { bool: "bool", int: "int64", float: "float32", complex: "complex64" }[operand.number.kind];
    if (role === "number") return { role, number: ofKind(FACTS.dtypes[name].kind) };
    if (role === "scalar") return { role: "NumPy scalar", dtype: name, isNumPy: true, number: ofKind(FACTS.dtypes[name].kind) };
    return { ...arrayOf(name, role === "0-d" ? [] : ["n"]), isWeak: role === "weak", isNumPy: role === "numpy" };
  }

  const ofKind = (kind) => Numbers.read({ bool: "True", int: "5", float: "5.5", complex: "2j" }[kind]);

  function withDtype(operand, name) {
    const changed = { ...operand, dtype: name };
    return operand.role === "NumPy scalar" ? { ...changed, number: ofKind(FACTS.dtypes[name].kind) } : changed;
  }

  // Changes the question as it is now, which may be newer than what is drawn.
  function pick(change) {
    const area = document.getElementById("question");
    const q = Notation.writeQuestion(change(Notation.read(area.value)));
    area.value = q;
    document.getElementById("read").textContent = "";
    Explorer.go({ ...parts, q }, { replaces: true });
  }

  // ---- showing

  function showAnswers(question) {
    const names = chosenDialects();
    const answers = new Map(names.map((name) => [name, Answers.look(name, question)]));
    const usual = usualOf(answers);
    document.getElementById("summary").replaceChildren(...summary(question, answers, usual));
    const frameworks = new Map();
    for (const name of names) {
      const { framework } = FACTS.dialects[name];
      if (!frameworks.has(framework)) frameworks.set(framework, []);
      frameworks.get(framework).push(name);
    }
    document.getElementById("dialects").replaceChildren(
      ...[...frameworks].map(([framework, dialects]) =>
        make("section", { class: "framework", "aria-label": framework },
          dialects.map((name) => row(question, name, answers.get(name), usual)))),
    );
  }

  function chosenDialects() {
    const all = Object.keys(FACTS.dialects);
    const wanted = (parts.d ?? "").split(",").filter((name) => all.includes(name));
    return wanted.length ? wanted : all;
  }

  // What the others are compared with: the chosen dialect's answer, or the most frequent one.
  function usualOf(answers) {
    if (answers.has(parts.ref)) return Words.short(answers.get(parts.ref));
    const counts = countsOf(answers);
    return [...counts.keys()][0];
  }

  // How many dialects give each answer, the most frequent first.
  function countsOf(answers) {
    const counts = new Map();
    for (const answer of answers.values()) {
      const text = Words.short(answer);
      counts.set(text, [...(counts.get(text) ?? []), answer]);
    }
    const rank = (text) => (/^(refused|no |not )/.test(text) ? 1 : 0);
    return new Map([...counts].sort((a, b) => rank(a[0]) - rank(b[0]) || b[1].length - a[1].length));
  }

  function summary(question, answers, usual) {
    const counts = countsOf(answers);
    const asked = make("code", { class: "asked" }, Notation.writeQuestion(question));
    const words = counts.size === 1 ? "All dialects agree" : `${answers.size} dialects, ${counts.size} different answers`;
    const compared = [["", "the usual answer"], ...Elements.dialectOptions()];
    return [
      make("p", { class: "headline" }, asked, make("span", {}, words)),
      make("p", { class: "counts" }, [...counts].map(([text, given]) =>
        make("span", { class: text === usual ? "usual" : "other" }, result(given[0]), ` ${given.length}`))),
      make("div", { class: "compared" },
        choice("Highlight what differs from", parts.ref ?? "", compared, (ref) => Explorer.go({ ...parts, ref })),
        make("button", { type: "button", onclick: () => toggleAll(answers) }, isAllOpen(answers) ? "Close all" : "Show all steps")),
    ];
  }

  const openOnes = () => new Set((parts.open ?? "").split(",").filter(Boolean));
  const isAllOpen = (answers) => [...answers.keys()].every((name) => openOnes().has(name));

  function toggleAll(answers) {
    Explorer.go({ ...parts, open: isAllOpen(answers) ? "" : [...answers.keys()].join(",") }, { replaces: true });
  }

  function row(question, name, answer, usual) {
    const isOpen = openOnes().has(name);
    const { version } = FACTS.dialects[name];
    const differs = Words.short(answer) !== usual;
    const id = `steps of ${name}`.replace(/\W/g, "-");
    const button = make("button", {
      type: "button", class: "answer", "aria-expanded": String(isOpen), "aria-controls": id, "data-dialect": name,
      onclick: () => toggle(name),
    },
      make("span", { class: "dialect" }, name, version && !name.includes("@") ? make("span", { class: "faint" }, ` ${version}`) : ""),
      make("span", { class: "outcome" }, result(answer),
        answer.kind === "decided" && !answer.runs ? make("span", { class: "none refused" }, "no kernel") : ""),
      make("span", { class: "costs" }, hazards(answer)));
    return make("div", { class: differs ? "row differs" : "row" }, button,
      make("div", { id, class: "details", hidden: !isOpen }, isOpen ? details(question, name, answer) : ""));
  }

  function toggle(name) {
    const open = openOnes();
    if (!open.delete(name)) open.add(name);
    Explorer.go({ ...parts, open: [...open].join(",") }, { replaces: true }).then(() => {
      document.querySelector(`[data-dialect="${CSS.escape(name)}"]`)?.focus();
    });
  }

  function details(question, name, answer) {
    return [steps(question, name, answer), costs(answer), evidence(question, name), casts(question, name, answer), links(question, name)];
  }

  function steps(question, name, answer) {
    if (answer.kind === "unasked") {
      return make("p", {}, "This page has no answer for these operands. Ask on the command line: ", commandFor(name, Notation.writeQuestion(question)));
    }
    return make("ol", {}, Words.steps(question, answer).map((step) =>
      make("li", { class: step.startsWith("Refused:") ? "refused" : null }, step)));
  }

  function costs(answer) {
    const found = Words.hazardsOf(answer);
    return found.length ? make("ul", { class: "plain" }, found.map((hazard) =>
      make("li", {}, make("span", { class: "hazard" }, hazard), ` ${FACTS.hazards[hazard]}`))) : "";
  }

  function evidence({ op }, name) {
    const { evidence: source, cells, unrecorded } = FACTS.dialects[name];
    const counted = cells[op] ? ` ${cells[op].toLocaleString("en")} recorded answers about ${op}.` : "";
    const missing = unrecorded.includes(op) ? ` ${op} was not recorded: this follows from the general rules.` : "";
    return make("p", { class: "faint" }, `Evidence: ${source}.${counted}${missing}`);
  }

  // The expression with its casts written out, and what gives the compared dialect's result here.
  function casts(question, name, answer) {
    const lines = [];
    if (answer.casts?.some((cast) => cast?.source)) lines.push(castLine("Copy the cast that keeps this meaning", Casts.written(name, question, answer)));
    if (FACTS.dialects[parts.ref] && parts.ref !== name) {
      const wanted = Answers.look(parts.ref, question);
      if (wanted.kind === "decided" && Words.short(wanted) !== Words.short(answer)) {
        lines.push(castLine(`Copy what gives ${parts.ref}'s ${wanted.result} here`, Casts.written(name, question, wanted)));
      }
    }
    return make("div", { class: "casts" }, lines);
  }

  function castLine(label, code) {
    if (!code) return "";
    return make("p", {}, make("button", { type: "button", onclick: () => copy(code, `Copied: ${code}`) }, label), " ", make("code", {}, code));
  }

  function links({ op, form }, name) {
    const table = Explorer.address({ view: "table", dialect: name, op, form });
    const lattice = Explorer.address({ view: "lattice", dialect: name });
    return make("p", { class: "links" }, make("a", { href: table }, `Table of ${op} in ${name}`), " · ", make("a", { href: lattice }, "Its lattice"),
      parts.ref && parts.ref !== name ? [" · ", make("a", { href: Explorer.address({ view: "diff", a: parts.ref, b: name, op, form }) }, `Difference from ${parts.ref}`)] : "");
  }

  return { draw, title };
})();
