"use strict";

// Reads the op and the dtypes from a pasted traceback, as castwise.engine.tracebacks does in Python:
// the functions have the same names there, and the same data. Keep the two alike.
//
//   Tracebacks.read(text, data)  ->  {sentence, dialect, op, form, operands, out, computed,
//                                     dtype, in_order, other_ops, question, nearest}
//
// What the traceback does not tell is null. `data` is the JSON of traceback_data().
const Tracebacks = (() => {
  const MOST = 200000; // characters: of a longer text the end is read, where the error is
  const UNKNOWN = "?";
  const OPERANDS = ["left", "right", "third"];
  const DTYPES = [...OPERANDS, "each", "found", "expected", "computed", "result", "target", "dtype"];
  const LONGEST = 250;
  const WRITES = ["augmented", "inplace"];

  // ---- the whole --------------------------------------------------------------------------------

  function read(text, data) {
    text = cleaned(text.slice(-MOST));
    const frames = framesOf(text);
    const found = firstMessage(text, data);
    const framework = frameworkOf(found, frames, text, data);
    const wanted = found ? found.ops : [];
    const call = callIn(frames, data, wanted, framework);
    let op = call ? call.op : (wanted[0] ?? null);
    let form = (found && found.pattern.form) || (call ? call.form : null);
    const [operands, out] = operandsOf(found, op, form, call, data);
    if (op && operands.length > data.ops[op].most) {
      op = form = null; // the line of code has one op, and the message is about another
    }
    const told = found ? found.dtypes : {};
    const known = {
      sentence: found ? found.sentence : null,
      dialect: dialectOf(found, framework, text, data),
      op,
      form,
      operands,
      out,
      computed: told.computed || told.result || null,
      dtype: told.dtype || null,
      in_order: !found || found.pattern.in_order || (call !== null && call.numbers.some(Boolean)),
      other_ops: call ? [] : wanted.slice(1),
    };
    return { ...known, question: question(known, data), nearest: nearest(known, data) };
  }

  // The op with its operands, in notation; `?` stands for one that is not told.
  function question(known, data) {
    return expression(known, known.operands.map((operand) => operand ?? UNKNOWN), data);
  }

  // A question that a dialect refuses for the same reason: operands that are not told have the
  // dtype that the op computes in.
  function nearest(known, data) {
    const operands = known.operands.map((operand) => operand ?? known.computed);
    return operands.includes(null) ? null : expression(known, operands, data);
  }

  function expression({ op, form, out, dtype }, operands, data) {
    if (op === null) return null;
    const symbol = data.ops[op].symbol;
    if (form === "augmented" && symbol) return `${operands[0]} ${symbol}= ${operands[1]}`;
    const named = [out && `out=${out}`, dtype && `dtype=${dtype}`].filter(Boolean);
    if ((form === "operator" || form === null) && symbol && named.length === 0) {
      return operands.length > 1 ? `${operands[0]} ${symbol} ${operands.at(-1)}` : symbol + operands[0];
    }
    return `${op}${form === "inplace" ? "_" : ""}(${[...operands, ...named].join(", ")})`;
  }

  // ---- the message ------------------------------------------------------------------------------

  // The first of the patterns that the text has, where it stands last.
  function firstMessage(text, data) {
    for (const pattern of data.patterns) {
      const matches = [...text.matchAll(new RegExp(pattern.pattern, "g"))].reverse();
      for (const match of matches) {
        const found = foundIn(pattern, match, data);
        if (found) return found;
      }
    }
    return null;
  }

  // What a match means; null where its words are no dtypes or ops, so that it means nothing.
  function foundIn(pattern, match, data) {
    const groups = {};
    const dtypes = {};
    pattern.groups.forEach((name, place) => {
      groups[name] = match[place + 1];
      if (DTYPES.includes(name)) dtypes[name] = dtypeNamed(groups[name], pattern.framework, data);
    });
    const told = Object.values(dtypes);
    let ops = pattern.ops;
    if ("op" in groups) {
      ops = opsNamed(groups.op, pattern.framework, data);
      if (ops.length === 0 && told.length === 0) return null;
    }
    if (told.length > 0 && !told.some(Boolean)) return null;
    return { pattern, sentence: shortened(match[0]), groups, dtypes, ops };
  }

  // A message on one line. Some list every dtype that a kernel has.
  function shortened(message) {
    const line = message.trim().split(/\s+/).join(" ");
    return line.length <= LONGEST ? line : `${line.slice(0, 120)} ... ${line.slice(-80)}`;
  }

  // Whose rules refused: the framework that the user's code called, where that runs on the one
  // whose message it is.
  function frameworkOf(found, frames, text, data) {
    let called = null;
    for (const frame of [...frames].reverse()) {
      const framework = frameworkOfFile(frame.file, data);
      if (framework === null) break;
      called = framework;
    }
    if (found === null) {
      const sign = Object.keys(data.signs).find((part) => text.includes(part));
      return called ?? (sign ? data.signs[sign].split("@")[0] : null);
    }
    const own = found.pattern.framework;
    return called && data.frameworks[called].runs_on.includes(own) ? called : own;
  }

  // The dialect: that of the message, or that of which the traceback has a sign.
  function dialectOf(found, framework, text, data) {
    if (found && framework === found.pattern.framework && framework !== found.pattern.dialect) {
      return found.pattern.dialect;
    }
    const signs = Object.entries(data.signs).filter(
      ([part, dialect]) => text.includes(part) && dialect.split("@")[0] === framework,
    );
    return signs.length > 0 ? signs[0][1] : framework;
  }

  // ---- the operands -----------------------------------------------------------------------------

  // The operands, as many as the op has, and the dtype of what is written to.
  function operandsOf(found, op, form, call, data) {
    const row = op ? data.ops[op] : { operands: 0, condition_first: false };
    let slots = found ? slotsOf(found, row, data) : [];
    const target = (found && found.dtypes.target) || null;
    const writes = WRITES.includes(form);
    if (target && writes) slots = [target, ...slots.slice(1)];
    // The condition takes no part, and a wrong one has a message of its own.
    if (row.condition_first && slots.length > 1) slots = ["bool", ...slots.slice(-2)];
    padded(slots, row.operands);
    putNumbers(slots, call ? call.numbers : [], data);
    return [slots, writes ? null : target];
  }

  // What a message tells of the operands, from the first on.
  function slotsOf({ pattern, groups, dtypes }, row, data) {
    let slots = pattern.operands.map((operand) => (operand === UNKNOWN ? null : operand));
    if ("operands" in groups) {
      slots = operandsNamed(groups.operands, pattern.framework, data);
    } else if ("each" in dtypes) {
      slots = Array(row.operands).fill(dtypes.each);
    } else if ("place" in groups) {
      const place = Number(groups.place);
      slots = Array(Math.min(Number(row.condition_first), place)).fill(null);
      while (slots.length < place) slots.push(dtypes.expected);
      slots.push(dtypes.found);
    } else if ("computed" in dtypes && row.operands === 1) {
      slots = [dtypes.computed];
    }
    OPERANDS.forEach((name, place) => {
      if (name in dtypes) padded(slots, place + 1)[place] = dtypes[name];
    });
    const number = data.kinds[groups.kind] || groups.number;
    if (number) padded(slots, 2)[1] = number;
    return slots;
  }

  function padded(slots, length) {
    while (slots.length < length) slots.push(null);
    return slots;
  }

  // Puts the numbers of the code in their places. A dtype that the message tells stays: some
  // frameworks have made an array of the number.
  function putNumbers(slots, numbers, data) {
    numbers.slice(0, slots.length).forEach((number, place) => {
      if (number === null) return;
      const told = slots.findIndex((slot) => slot !== null && !data.dtypes.includes(slot));
      if (told >= 0 && told !== place && numbers[told] === null) {
        [slots[told], slots[place]] = [slots[place], slots[told]];
      }
      if (!data.dtypes.includes(slots[place])) slots[place] = number;
    });
  }

  // ---- names of dtypes and ops ------------------------------------------------------------------

  function dtypeNamed(words, framework, data) {
    const quoted = words.match(/'([^']*)'/);
    let word = (quoted ? quoted[1] : words).replace(/^struct /, "");
    const bracketed = word.match(/\[(\w+)\]$/);
    word = bracketed ? bracketed[1] : word;
    const tail = word.split(/\.|::/).at(-1);
    const own = data.frameworks[framework].dtypes;
    const lower = tail.toLowerCase();
    return entry(own, word) ?? entry(own, tail) ?? (data.dtypes.includes(lower) ? lower : null);
  }

  function operandsNamed(words, framework, data) {
    const listed = words.match(/<class '[\w.\[\]]+'>|dtype\('[^']+'\)|[A-Za-z_][\w.]*/g) ?? [];
    return listed.map((word) => {
      const type = word.match(/^<class '(\w+)'>$/);
      return (type && entry(data.kinds, type[1])) ?? dtypeNamed(word, framework, data);
    });
  }

  // The ops that a framework names so in messages: "AddV2", "bitwise_and_cpu".
  function opsNamed(word, framework, data) {
    let snake = word.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase().replace(/^_+|_+$/g, "");
    const names = [word, word.split(".").at(-1), word.toLowerCase(), snake];
    while (snake.includes("_") && data.endings.includes(snake.split("_").at(-1))) {
      snake = snake.slice(0, snake.lastIndexOf("_"));
      names.push(snake);
    }
    const own = data.frameworks[framework];
    for (const name of names) {
      const ops = entry(own.ops, name);
      if (ops !== null) return ops.split(" ").filter(Boolean);
      const op = entry(own.calls, name) ?? name;
      if (entry(data.ops, op)) return [op];
    }
    return [];
  }

  // A value of a table; null where it has none of this name, not even an inherited one.
  function entry(table, name) {
    return Object.hasOwn(table, name) ? table[name] : null;
  }

  // ---- frames -----------------------------------------------------------------------------------

  // A traceback without what terminals and launchers add to it.
  function cleaned(text) {
    return text
      .replace(/\r\n?|[\u2028\u2029]/g, "\n")
      .replaceAll("\u00a0", " ")
      .replace(/\x1b\[[\d;]*m|^\[rank\d+\]: ?|^E {3,}|^[│|] | *[│|] *$/gm, "");
  }

  // The frames of a traceback that Python, IPython, pytest or rich shows: {file, code, marks}.
  function framesOf(text) {
    const lines = text.split("\n");
    const frames = [];
    let file = "";
    lines.forEach((line, number) => {
      const plain = line.match(/^ *File "([^"]+)", line \d+|^(\S+\.py):\d+: in /);
      const place = line.match(/(?:^| )(?:File )?(\S+\.py)(?::\d+| in )/);
      const arrow = line.match(/^(?:-+>|❱) *\d+ ?│?([\s│]*\S.*)$/);
      if (plain) {
        file = plain[1] ?? plain[2];
        frames.push(...plainFrame(file, lines.slice(number + 1, number + 3)));
      } else if (/^> {3,}\S/.test(line)) {
        frames.push(...plainFrame("", [` ${line.slice(1)}`, lines[number + 1]]));
      } else if (arrow) {
        frames.push({ file, code: arrow[1].replaceAll("│", " ").trim(), marks: "" });
      } else if (place || /Cell In ?\[|<ipython-input/.test(line)) {
        file = place ? place[1] : "";
      }
    });
    return frames;
  }

  function plainFrame(file, [code = "", below = ""]) {
    if (!code.startsWith("    ")) return [];
    const indent = code.length - code.trimStart().length;
    const marks = /^[ ~^]*\^[ ~^]*$/.test(below) ? below.slice(indent).trimEnd() : "";
    return [{ file, code: code.trim(), marks: marks.includes("^") ? marks : "" }];
  }

  function frameworkOfFile(file, data) {
    const found = file.match(/[\\/](?:site|dist)-packages[\\/](\w+)[\\/]/);
    return found ? entry(data.packages, found[1]) : null;
  }

  // ---- calls in lines of code -------------------------------------------------------------------

  const NUMBER = String.raw`(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?j?`;
  const TOKEN = new RegExp(
    String.raw`"[^"]*"|'[^']*'|${NUMBER}|[A-Za-z_][\w.]*|\*\*=?|\/\/=?|<<=?|>>=?|[-+*\/%@&|^]=?` +
      String.raw`|[=!<>]=|[~<>()\[\]{},:=.]`,
    "g",
  );
  const LITERAL = new RegExp(`^(?:-?${NUMBER}|True|False)$`);
  const NAME = /^[A-Za-z_][\w.]*$/;
  const KEYWORD = /^(?:return|and|or|not|in|is|if|else|await|yield|assert|lambda|for|while)$/;
  const OPERATOR = /^[-+*\/%@&|^~<>=!]+$/;
  const OPEN = ["(", "[", "{"];
  const CLOSE = [")", "]", "}"];

  // The call that failed: {op, form, numbers}. `wanted` are the ops that the message speaks of, if
  // it names some. The user's last line of code tells it, or else the framework's lines that it
  // led to.
  function callIn(frames, data, wanted, framework) {
    // From Python 3.11 on a line without marks failed as a whole.
    const hasMarks = frames.some((frame) => frame.marks);
    const start = frames.findLastIndex((frame) => frameworkOfFile(frame.file, data) === null);
    for (const frame of frames.slice(Math.max(start, 0))) {
      let calls = callsOf(frame, data, framework, hasMarks);
      // A function written in Python would have a frame of its own.
      if (frame === frames.at(-1)) calls = calls.filter((call) => call.op);
      const fitting = calls.filter((call) => wanted.length === 0 || wanted.includes(call.op));
      if (fitting.length === 1 && fitting[0].op) {
        // Where it is one of several, what stands beside it may be part of another.
        return calls.length === 1 ? fitting[0] : { ...fitting[0], numbers: [] };
      }
    }
    return null;
  }

  // The ops and other calls of a line of code; the failed one alone, where it is marked.
  function callsOf(frame, data, framework, hasMarks) {
    const marked = markedOperator(frame, data);
    if (marked) return [marked];
    const { code, marks } = frame;
    const text = marks ? code.slice(marks.length - marks.trimStart().length, marks.length) : code;
    const tokens = text.match(TOKEN) ?? [];
    const outer = hasMarks ? outerCall(tokens, data, framework) : null;
    if (outer) return [outer];
    return tokens.map((_, place) => callAt(tokens, place, data, framework)).filter(Boolean);
  }

  // The operator that the marks point at: `a @ b` with `~~^~~` below it.
  function markedOperator({ code, marks }, data) {
    if (!marks.includes("~")) return null;
    const start = marks.indexOf("^");
    const end = marks.lastIndexOf("^") + 1;
    const left = code.slice(marks.length - marks.trimStart().length, start).trim();
    const right = code.slice(end, marks.length).trim();
    return operator(code.slice(start, end).trim(), 2, [left, right], data);
  }

  function operator(symbol, count, operands, data) {
    const numbers = operands.map(numberIn);
    const op = entry(data.symbols, `${symbol}${count}`);
    if (op) return { op, form: "operator", numbers };
    const augmented = symbol.endsWith("=") ? entry(data.symbols, `${symbol.slice(0, -1)}${count}`) : null;
    return augmented ? { op: augmented, form: "augmented", numbers } : null;
  }

  function numberIn(text) {
    return LITERAL.test(text) ? text : null;
  }

  // The operator or call that a token is; null where it is neither.
  function callAt(tokens, place, data, framework) {
    const [before, token, after] = [tokens[place - 1] ?? "", tokens[place], tokens[place + 1] ?? ""];
    if (OPERATOR.test(token)) {
      const isOperand = /[\w)\]}'"]$/.test(before) && !KEYWORD.test(before);
      if (isOperand) return operator(token, 2, [before, after], data);
      return numberIn(after) ? null : operator(token, 1, [after], data);
    }
    const isCall = after === "(" && NAME.test(token) && !KEYWORD.test(token);
    return isCall ? namedCall(tokens, place, data, framework) : null;
  }

  // The call that the code as a whole is.
  function outerCall(tokens, data, framework) {
    let depth = 0;
    let last = 0;
    for (const [place, token] of tokens.entries()) {
      if (depth === 0 && (OPERATOR.test(token) || KEYWORD.test(token))) return null;
      if (depth === 0 && OPEN.includes(token)) last = place;
      depth += OPEN.includes(token) - CLOSE.includes(token);
    }
    if (last === 0 || tokens[last] !== "(" || !NAME.test(tokens[last - 1])) return null;
    return tokens.at(-1) === ")" ? namedCall(tokens, last - 1, data, framework) : null;
  }

  // A call by name: a framework's function, or a method of an array.
  function namedCall(tokens, place, data, framework) {
    const dot = tokens[place].lastIndexOf(".");
    const receiver = tokens[place].slice(0, Math.max(dot, 0));
    const owners = Object.keys(data.frameworks);
    const owner = owners.find((name) => data.frameworks[name].prefixes.includes(receiver)) ?? null;
    const isMethod = owner === null && (receiver !== "" || tokens[place - 1] === ".");
    if ((owner === null && !isMethod) || receiver === "self" || receiver === "super") {
      return { op: null, form: "function", numbers: [] };
    }
    const own = data.frameworks[framework ?? owner] ?? { calls: {} };
    const [op, form] = opCalled(tokens[place].slice(dot + 1), own.calls, data);
    const given = argumentsOf(tokens, place + 1);
    const isOut = given.some((words) => words[0] === "out" && words[1] === "=");
    let numbers = given.filter((words) => !words.includes("=")).map((words) => numberIn(words.join("")));
    // cat([a, b], 0): its operands are those of the list.
    if (given.some((words) => words[0] === "[")) numbers = [];
    return { op, form: isOut ? "out" : form, numbers: isMethod ? [null, ...numbers] : numbers };
  }

  // The op of a function's name, and its form; a name such as add_ is in place.
  function opCalled(name, calls, data) {
    let op = entry(calls, name) ?? name;
    let form = "function";
    if (!entry(data.ops, op) && op.endsWith("_")) {
      op = entry(calls, op.slice(0, -1)) ?? op.slice(0, -1);
      form = "inplace";
    }
    return [entry(data.ops, op) ? op : null, form];
  }

  // The tokens of each argument of the call whose bracket opens here.
  function argumentsOf(tokens, start) {
    const given = [[]];
    let depth = 1;
    for (const token of tokens.slice(start + 1)) {
      depth += OPEN.includes(token) - CLOSE.includes(token);
      if (depth === 0) break;
      if (token === "," && depth === 1) given.push([]);
      else given.at(-1).push(token);
    }
    return given.filter((words) => words.length > 0);
  }

  return { read };
})();
