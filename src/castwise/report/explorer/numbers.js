// Python's numbers: read as Python reads them, written as Python writes them, and sorted into the
// intervals between which no rule looks closer. Ints are BigInts, so that none is rounded.
"use strict";

const Numbers = (() => {
  const BOUNDS = FACTS.bounds.map((bound) => (typeof bound === "number" ? bound : float(bound))); // "inf" in JSON
  const EXACT = new Map(FACTS.exact);
  const NUMBER = /^([+-]?)((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|inf|nan)$/;
  const COMPLEX = /^([+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|inf|nan)(?=[+-]))?([+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|inf|nan))j$/;

  // The number of a literal: {kind, value}, or null. A complex value is [real, imaginary].
  function read(text) {
    if (text === "True" || text === "False") return { kind: "bool", value: text === "True" };
    const parts = COMPLEX.exec(text);
    if (parts) return { kind: "complex", value: [float(parts[1] ?? "0"), float(parts[2])] };
    if (!NUMBER.test(text)) return null;
    if (/^[+-]?\d+$/.test(text)) return { kind: "int", value: BigInt(text.replace(/^\+/, "")) };
    return { kind: "float", value: float(text) };
  }

  function float(text) {
    const sign = text.startsWith("-") ? -1 : 1;
    const digits = text.replace(/^[+-]/, "");
    if (digits === "inf") return sign * Infinity;
    return digits === "nan" ? NaN : sign * Number(digits);
  }

  // The number as Python prints it.
  function write({ kind, value }) {
    if (kind === "bool") return value ? "True" : "False";
    if (kind === "int") return String(value);
    if (kind === "float") return floatText(value);
    const [real, imaginary] = value.map(partText);
    if (Object.is(value[0], 0)) return `${imaginary}j`;
    return `${real}${/^[-+]/.test(imaginary) ? "" : "+"}${imaginary}j`;
  }

  function floatText(value) {
    if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf";
    if (Object.is(value, -0)) return "-0.0";
    const [digits, power] = value.toExponential().split("e");
    const exponent = Number(power);
    if (exponent >= -4 && exponent < 16) {
      const text = exponent > 0 ? plainText(digits, exponent) : String(value);
      return text.includes(".") ? text : `${text}.0`;
    }
    return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }

  // Digits such as 1.25 with the point moved, without an exponent.
  function plainText(digits, exponent) {
    const sign = digits.startsWith("-") ? "-" : "";
    const [whole, rest = ""] = digits.replace("-", "").split(".");
    const all = (whole + rest).padEnd(exponent + 1, "0");
    const fraction = all.slice(exponent + 1);
    return `${sign}${all.slice(0, exponent + 1)}${fraction && `.${fraction}`}`;
  }

  const partText = (value) => floatText(value).replace(/\.0$/, "");

  // The float that Python's float() makes of an int or a bool.
  const asFloat = ({ value }) => floatText(Number(value));

  // The place of a number among the bounds: 2n between two, 2n + 1 on one, negative for a few
  // values with rules of their own. A complex number counts by the larger of its parts.
  function place({ kind, value }) {
    if (kind !== "complex") return placeOf(kind === "bool" ? Number(value) : value);
    const [real, imaginary] = value.map(Math.abs);
    if (Number.isNaN(real) || Number.isNaN(imaginary)) return FACTS.nan;
    return placeOf(Math.max(real, imaginary));
  }

  function placeOf(value) {
    for (const [exact, found] of EXACT) if (value == exact) return found; // 2n == 2
    if (Number.isNaN(value)) return FACTS.nan;
    let low = 0;
    let high = BOUNDS.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (BOUNDS[middle] < value) low = middle + 1;
      else high = middle;
    }
    return 2 * low + (BOUNDS[low] == value ? 1 : 0);
  }

  // A number as a NumPy scalar of a dtype holds it; null where the dtype has no such value.
  function held(number, dtype) {
    const { kind, limits } = FACTS.dtypes[dtype];
    const { value } = number;
    if (kind === "complex") {
      const parts = number.kind === "complex" ? value : [Number(value), 0];
      return { kind, value: parts.map((part) => rounded(part, dtype === "complex64" ? "float32" : dtype)) };
    }
    if (number.kind === "complex") return null;
    if (kind === "float") return { kind, value: rounded(Number(value), dtype) };
    const whole = number.kind === "float" ? (Number.isInteger(value) ? BigInt(value) : null) : BigInt(value);
    if (whole === null || whole < BigInt(limits[0]) || whole > BigInt(limits[1])) return null;
    return kind === "bool" ? { kind, value: whole === 1n } : { kind, value: whole };
  }

  const rounded = (value, dtype) => (dtype === "float32" ? Math.fround(value) : value);

  return { read, write, asFloat, place, held };
})();
