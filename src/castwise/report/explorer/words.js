// Sentences about an answer, filled in with what was typed.
"use strict";

const Words = (() => {
  // The steps of an answer, as `castwise explain` prints them.
  function steps(question, answer) {
    if (answer.kind === "lacking") {
      return [`This dialect has no ${answer.what}.`, "Cast it to one it has."];
    }
    return answer.steps.map((template) => filled(template, question, answer));
  }

  function filled(template, question, answer) {
    return template.replace(/\{([^{}]+)\}/g, (_, words) => {
      const [what, place] = words.split(" ");
      if (what === "result") return resultSentence(answer);
      if (what === "cast") return `Cast: ${(place === "result" ? answer.written : answer.casts[place]).text}.`;
      if (what === "op") return question.op;
      if (what === "symbol") return FACTS.ops[question.op].symbol;
      const operand = question.operands[place ?? what];
      return place === undefined ? Notation.write(operand) : part(what, operand);
    });
  }

  function part(what, operand) {
    if (what === "role") return `${Notation.write(operand)} is ${roleText(operand)}.`;
    if (what === "in-operator") return Notation.writeInOperator(operand);
    if (what === "dtype") return operand.dtype;
    if (what === "size") return operand.sizes === null ? "" : `[${operand.sizes.join(",")}]`;
    if (what === "int") return String(Number(operand.number.value));
    return what === "float" ? Numbers.asFloat(operand.number) : Numbers.write(operand.number);
  }

  function resultSentence({ runs, isWeak, result }) {
    return `The result ${runs ? "is" : "would be"} ${isWeak ? "a weak " : ""}${result}.`;
  }

  function roleText(operand) {
    if (operand.role === "number") return `a Python ${operand.number.kind}`;
    if (operand.role === "NumPy scalar") return `a NumPy scalar of ${operand.dtype}`;
    const isZeroD = operand.sizes?.length === 0;
    const role = `${operand.isNumPy ? "NumPy " : ""}${isZeroD ? "0-d " : ""}array`;
    const words = `${operand.isWeak ? "weakly typed " : ""}${role}`;
    return `${/^[aeiou]/.test(words) ? "an" : "a"} ${words} of ${operand.dtype}`;
  }

  // What is compared and shown first: a dtype, or that there is none.
  function short(answer) {
    if (answer.kind === "decided") return `${answer.result}${answer.isWeak ? "*" : ""}`;
    return { refused: "refused", lacking: "no such dtype", senseless: "no sense", unasked: "not asked" }[answer.kind];
  }

  function hazardsOf(answer) {
    if (answer.kind !== "decided") return [];
    const found = new Set([...answer.casts, ...answer.inside, answer.written].flatMap((cast) => cast?.hazards ?? []));
    return Object.keys(FACTS.hazards).filter((hazard) => found.has(hazard));
  }

  return { steps, short, hazardsOf };
})();
