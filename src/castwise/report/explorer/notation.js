// The notation: one op with its operands, as a call, a method or an operator.
"use strict";

const Notation = (() => {
  const NUMBER = String.raw`(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|inf|nan)`;
  const LITERAL = String.raw`True|False|[+-]?${NUMBER}(?:j|[+-]${NUMBER}j)?(?![\w.])`;
  const ARRAY = String.raw`([A-Za-z_][\w.]*)(\*(?=[=\[]))?(?:\((${LITERAL})\)|(=(?:${LITERAL}))?(?:\[([^\[\]]*)\])?)`;
  const OPERAND = new RegExp(String.raw`^(?:(${LITERAL})|\((${LITERAL})\)|([ifc]\*)(?![\w*=\[])|${ARRAY})`);
  const SYMBOL = /^\s*(==|!=|<=|>=|\*\*|\/\/|<<|>>|<|>|[-+*/%@&|^])(=?)\s*/;
  const KINDS = { "i*": "1", "f*": "1.0", "c*": "1j" };

  class Unreadable extends Error {}
  // What castwise can answer, and this page cannot.
  class Unanswered extends Unreadable {}

  // What was typed as {op, form, operands}. Throws Unreadable, which says what is wrong.
  function read(text) {
    const written = text.trim();
    if (!written) throw new Unreadable("Type an op with its operands, such as int32[n] + 5.5");
    return readCall(written) ?? readOperator(written) ?? readMethod(written) ?? fail(written);
  }

  function readCall(text) {
    const call = /^([A-Za-z_][\w.]*)\(([\s\S]*)\)$/.exec(text);
    if (!call || !isBalanced(call[2]) || dtypeOf(call[1])) return null;
    return called(call[1], split(call[2]));
  }

  function readMethod(text) {
    const method = /^([\s\S]+?)\.([A-Za-z_]\w*)\(([\s\S]*)\)$/.exec(text);
    if (!method || !isBalanced(method[3])) return null;
    return called(method[2], [method[1], ...split(method[3])]);
  }

  function called(name, words) {
    const [op, form] = opOf(name);
    if (!op) throw new Unreadable(`There is no op ${name} here.${near(name, Object.keys(FACTS.ops))}`);
    const named = words.find((word) => /^[A-Za-z_]\w*\s*=(?!=)/.test(word) && !dtypeOf(word.split("=")[0].trim()));
    if (named) throw new Unanswered(`This page has no answers with ${named.split("=")[0].trim()}=.`);
    return checked({ op, form, operands: words.map(operand) });
  }

  // The op that a name means, and the form: add_ is in place, np.multiply is mul.
  function opOf(name) {
    const bare = name.split(".").at(-1);
    for (const [word, form] of [[name, "function"], [bare, "function"], [bare.replace(/_$/, ""), "inplace"]]) {
      const known = Object.hasOwn(FACTS.ops, word) ? word : FACTS.names[word];
      if (known && FACTS.ops[known].forms[form]) return [known, form];
    }
    return [null, null];
  }

  function readOperator(text) {
    const first = taken(text);
    if (!first) return readUnary(text);
    const symbol = SYMBOL.exec(text.slice(first.length));
    if (!symbol) return null;
    const rest = text.slice(first.length + symbol[0].length);
    const second = taken(rest);
    if (!second || second.length !== rest.length) return null;
    const op = opOfSymbol(symbol[1], 2);
    if (!op) return null;
    return checked({ op, form: symbol[2] ? "augmented" : "operator", operands: [operand(first), operand(second)] });
  }

  function readUnary(text) {
    const op = opOfSymbol(text[0], 1);
    const rest = text.slice(1).trim();
    const inner = op && taken(rest);
    return inner && inner.length === rest.length ? checked({ op, form: "operator", operands: [operand(inner)] }) : null;
  }

  // The op that an unfinished text begins with, and its form; nulls where that is not clear yet.
  function begun(text) {
    const call = /^\s*([A-Za-z_][\w.]*)\(/.exec(text);
    if (call && !dtypeOf(call[1])) return opOf(call[1]);
    const first = taken(text.trimStart());
    const symbol = first && SYMBOL.exec(text.trimStart().slice(first.length));
    const op = symbol && opOfSymbol(symbol[1], 2);
    return op ? [op, symbol[2] ? "augmented" : "operator"] : [null, null];
  }

  function opOfSymbol(symbol, count) {
    return Object.keys(FACTS.ops).find((name) => FACTS.ops[name].symbol === symbol && FACTS.ops[name].arity[0] === count);
  }

  // The operand that a text begins with, as it is written; null where there is none.
  function taken(text) {
    const found = OPERAND.exec(text);
    if (!found) return null;
    const name = found[4];
    return name && !dtypeOf(name) ? null : found[0];
  }

  function operand(text) {
    const written = text.trim();
    const found = OPERAND.exec(written);
    if (!found || found[0].length !== written.length) {
      if (/[-+*/%@&|^(]/.test(written)) throw new Unanswered(`This page looks up one op at a time: ${written} is another.`);
      throw new Unreadable(`${written || "Nothing"} is no operand. Write int32[n], int32[], 5, 5.5, np.float64(1.5).`);
    }
    const [, literal, braced, kind, name, star, scalar, value, dims] = found;
    if (literal || braced || kind) return number(literal ?? braced ?? KINDS[kind]);
    return array(written, { name, isWeak: Boolean(star), scalar, value, dims });
  }

  const number = (text) => ({ role: "number", number: Numbers.read(text) });

  function array(written, { name, isWeak, scalar, value, dims }) {
    if (name === "None") throw new Unanswered("This page has no answers about None.");
    const dtype = dtypeOf(name);
    if (!dtype) throw noDtype(name);
    const isNumPy = /^(np|numpy)\./.test(name);
    if (scalar) return numpyScalar(dtype, scalar, isNumPy);
    if (value) throw new Unanswered(`This page does not look at the values of 0-d arrays: write ${dtype}[].`);
    const sizes = dims === undefined ? null : dims.split(",").map((size) => size.trim()).filter(Boolean);
    return { role: "array", dtype, isWeak, isNumPy, sizes };
  }

  const noDtype = (name) => new Unreadable(`There is no dtype ${name}.${near(name, Object.keys(FACTS.dtypes))}`);

  function numpyScalar(dtype, scalar, isNumPy) {
    if (!isNumPy) throw new Unreadable(`Write np.${dtype}(${scalar}) for a NumPy scalar.`);
    const held = Numbers.held(Numbers.read(scalar), dtype);
    if (!held) throw new Unreadable(`${scalar} is not a value of ${dtype}.`);
    return { role: "NumPy scalar", dtype, isNumPy: true, number: held };
  }

  function dtypeOf(name) {
    if (Object.hasOwn(FACTS.dtypes, name)) return name;
    return Object.hasOwn(FACTS.spellings, name) ? FACTS.spellings[name] : null;
  }

  function checked(question) {
    const { op, form, operands } = question;
    const [low, high] = FACTS.ops[op].arity;
    const count = low === high ? low : `${low} to ${high}`;
    if (operands.length < low || operands.length > high) {
      throw new Unreadable(`${op} takes ${count} operand${count === 1 ? "" : "s"} here, not ${operands.length}.`);
    }
    if (!FACTS.ops[op].forms[form]) throw new Unreadable(`${op} has no form ${form}.`);
    return question;
  }

  // An operand as castwise writes it.
  function write(operand) {
    if (operand.role === "number") return Numbers.write(operand.number);
    if (operand.role === "NumPy scalar") return `np.${operand.dtype}(${Numbers.write(operand.number)})`;
    const sizes = operand.sizes === null ? "" : `[${operand.sizes.join(",")}]`;
    return `${operand.isNumPy ? "np." : ""}${operand.dtype}${operand.isWeak ? "*" : ""}${sizes}`;
  }

  // An operand as castwise writes it in an operator: Python reads `1+1j // x` as `1 + (1j // x)`.
  const writeInOperator = (operand) => (isSum(operand) ? `(${write(operand)})` : write(operand));

  const isSum = ({ role, number }) => role === "number" && number.kind === "complex" && !Object.is(number.value[0], 0);

  // A whole question as castwise writes it.
  function writeQuestion({ op, form, operands }, words = operands.map(write)) {
    const { symbol } = FACTS.ops[op];
    if (form === "operator" || form === "augmented") {
      const [first, second] = words.map((word, place) => (isSum(operands[place]) ? `(${word})` : word));
      if (second === undefined) return `${symbol}${first}`;
      // Python reads `-1 ** x` as `-(1 ** x)`.
      const base = symbol === "**" && first.startsWith("-") ? `(${first})` : first;
      return `${base} ${symbol}${form === "augmented" ? "=" : ""} ${second}`;
    }
    return `${op}${form === "inplace" ? "_" : ""}(${words.join(", ")})`;
  }

  function split(text) {
    const parts = [""];
    let depth = 0;
    for (const char of text) {
      depth += "[(".includes(char) - "])".includes(char);
      if (char === "," && depth === 0) parts.push("");
      else parts[parts.length - 1] += char;
    }
    return text.trim() ? parts.map((part) => part.trim()) : [];
  }

  function isBalanced(text) {
    let depth = 0;
    for (const char of text) {
      depth += (char === "(") - (char === ")");
      if (depth < 0) return false;
    }
    return depth === 0;
  }

  // The known word that differs least from one that is not.
  function near(word, known) {
    const scores = known.map((other) => [distance(word, other), other]).sort((a, b) => a[0] - b[0]);
    const [far, best] = scores[0];
    return far <= Math.max(1, word.length / 3) ? ` Did you mean ${best}?` : "";
  }

  function distance(a, b) {
    let row = Array.from({ length: b.length + 1 }, (_, place) => place);
    for (let i = 1; i <= a.length; i++) {
      const next = [i];
      for (let j = 1; j <= b.length; j++) {
        next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] !== b[j - 1]));
      }
      row = next;
    }
    return row[b.length];
  }

  function fail(text) {
    const unknown = [...text.matchAll(/([A-Za-z_]\w*)\*?\[/g)].map(([, name]) => name).find((name) => !dtypeOf(name));
    if (unknown) throw noDtype(unknown);
    throw new Unreadable(`Cannot read ${text.length > 60 ? `${text.slice(0, 60)}…` : text} as one op. Write int32[n] + 5.5, or add(int32[n], 5.5).`);
  }

  return { read, begun, write, writeInOperator, writeQuestion, dtypeOf, opOf, Unreadable, Unanswered };
})();
