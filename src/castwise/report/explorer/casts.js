// The casts that make a meaning explicit, in the words of a framework. Each is looked up before it
// is offered: with the casts written out, the dialect must give that very result.
"use strict";

const Casts = (() => {
  const NAMES = ["x", "y", "z"];

  // What to write so that a dialect gives what `wanted` says; null where casts do not do it.
  function written(dialect, question, wanted) {
    const operands = recast(dialect, question, wanted);
    return operands && text(dialect, question, operands);
  }

  // The operands with which a dialect gives what `wanted` says.
  function recast(dialect, question, wanted) {
    if (wanted.kind !== "decided" || ["augmented", "inplace"].includes(question.form)) return null;
    const first = FACTS.ops[question.op].conditionFirst ? 1 : 0;
    // No array has the dtype "exact", in which integers are compared without a cast.
    for (const target of [wanted.compute, wanted.result].filter((name) => name !== "exact")) {
      const operands = question.operands.map((operand, place) => castTo(operand, target, place < first));
      const found = Answers.look(dialect, { ...question, operands });
      if (found.kind === "decided" && found.runs && isSame(found, wanted)) return operands;
    }
    return null;
  }

  // The result is also computed in the same dtype, not rounded to it afterwards.
  const isSame = (found, wanted) => found.result === wanted.result && found.compute === wanted.compute;

  function castTo(operand, target, isLeft) {
    const isOwn = operand.role === "array" && !operand.isNumPy;
    return isLeft || !isOwn ? operand : { ...operand, dtype: target, isWeak: false };
  }

  // An operator with its operands; of a call only the arguments, as its name may differ there.
  function text(dialect, question, operands) {
    const words = question.operands.map((operand, place) => {
      if (operand.role !== "array") return Notation.write(operand);
      const { dtype } = operands[place];
      return dtype === operand.dtype ? NAMES[place] : cast(dialect, NAMES[place], dtype);
    });
    return question.form === "operator" ? Notation.writeQuestion(question, words) : words.join(", ");
  }

  function cast(dialect, name, dtype) {
    const own = FACTS.dialects[dialect];
    return own.cast.replace("{x}", name).replace("{dtype}", dtype === "bool" ? own.boolName : dtype);
  }

  return { written, recast };
})();
