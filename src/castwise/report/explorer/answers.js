// Looks answers up. Nothing here decides: the engine was asked, and its answers are in the data.
"use strict";

const Answers = (() => {
  const chunks = new Map(); // chunk -> the promise of its data
  const received = new Map(); // chunk -> where what is, and the packed data
  const opened = new Map(); // "chunk dialect" -> what is in it

  // Called by the files of data/.
  function receive(chunk, packed) {
    received.set(chunk, packed);
  }

  // Loads what is needed for an op in a form.
  function load(op, form) {
    const chunk = FACTS.ops[op].forms[form];
    if (!chunks.has(chunk)) chunks.set(chunk, unpack(chunk));
    return chunks.get(chunk);
  }

  function script(address) {
    return new Promise((done, failed) => {
      const element = document.createElement("script");
      element.src = address;
      element.onload = done;
      element.onerror = () => failed(new Error(`${address} could not be read.`));
      document.head.append(element);
    });
  }

  // The data of a chunk are deflated, in base64.
  async function unpack(chunk) {
    await script(FACTS.chunks[chunk]);
    const { places, data } = received.get(chunk);
    const text = atob(data);
    const packed = new Uint8Array(text.length);
    for (let place = 0; place < text.length; place++) packed[place] = text.charCodeAt(place);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const raw = await new Response(stream).arrayBuffer();
    for (const [dialect, [start, length]] of Object.entries(places)) {
      const same = Object.keys(places).find((other) => places[other][0] === start);
      const known = opened.get(`${chunk} ${same}`);
      opened.set(`${chunk} ${dialect}`, known ?? open(raw, start, length));
    }
    received.delete(chunk);
  }

  // The answers of a dialect: a length, as many bytes of JSON, then columns of numbers, the low
  // bytes of each before the high ones: those of the answers, and the cells.
  function open(raw, start, size) {
    const length = new DataView(raw).getUint32(start, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(raw, start + 4, length)));
    const bytes = new Uint8Array(raw, start + 4 + length, size - 4 - length);
    const cells = 2 * head.answers * head.columns;
    return {
      ...head,
      groups: withTables(head),
      row: (answer) => Array.from({ length: head.columns }, (_, column) => numberAt(bytes, 2 * head.answers * column, head.answers, answer)),
      cell: (place) => numberAt(bytes, cells, (bytes.length - cells) / 2, place),
    };
  }

  const numberAt = (bytes, start, count, place) => bytes[start + place] | (bytes[start + count + place] << 8);

  // The tables of each group, with where their cells begin.
  function withTables({ groups, axes }) {
    const indexed = axes.map((axis) => new Map(axis.map((key, place) => [key, place])));
    let start = 0;
    return groups.map(([tellsZeroD, ...tables]) => ({
      tellsZeroD,
      tables: tables.map((numbers) => {
        const table = { axes: numbers.map((number) => indexed[number]), start };
        start += table.axes.reduce((size, axis) => size * axis.size, 1);
        return table;
      }),
    }));
  }

  // What a dialect answers: {kind: "decided" | "refused" | "senseless" | "lacking" | "unasked"}.
  function look(dialect, question) {
    const { op, form, operands } = question;
    const own = FACTS.dialects[dialect];
    const lacking = operands.find((o) => o.dtype && !o.isNumPy && !(o.isWeak ? own.weak : own.dtypes).includes(o.dtype));
    if (lacking) return { kind: "lacking", what: lacking.isWeak ? `weakly typed ${lacking.dtype} arrays` : `dtype ${lacking.dtype}` };
    const chunk = opened.get(`${FACTS.ops[op].forms[form]} ${dialect}`);
    const group = chunk.groups[chunk.ops[op][form]];
    const keys = operands.map((operand, place) => keysOf(question, operand, place, own, group.tellsZeroD));
    const place = keys.some((found) => found === null) ? -1 : placeIn(group.tables, keys);
    return place < 0 ? { kind: "unasked" } : told(chunk, chunk.row(chunk.cell(place)), operands.length);
  }

  // Where the cell is: in the first table that has all the operands.
  function placeIn(tables, keys) {
    for (const { axes, start } of tables) {
      if (axes.length !== keys.length) continue;
      const places = axes.map((axis, number) => axis.get(keys[number].find((key) => axis.has(key))));
      if (places.includes(undefined)) continue;
      return start + places.reduce((at, place, number) => at * axes[number].size + place, 0);
    }
    return -1;
  }

  // The keys that an operand may have in a table; null where the page has no answers about it.
  function keysOf(question, operand, place, own, tellsZeroD) {
    const { family, countsDimensions, countsElements, comparesDimensions } = FACTS.ops[question.op];
    if (operand.role !== "array") return numberKeys(question, operand, place, own);
    const { dtype, isWeak, isNumPy, sizes } = operand;
    if (countsElements && sizes?.includes("0")) return null;
    if (comparesDimensions && (sizes === null || sizes.length > 2)) return null;
    const isZeroD = sizes?.length === 0;
    if (isNumPy) return isZeroD ? null : [`NumPy array ${dtype}`];
    const words = isWeak ? `weak ${dtype}` : dtype;
    const name = isWeak ? words : `array ${dtype}`;
    if (isZeroD) return [tellsZeroD ? `0-d ${words}` : name];
    if (countsDimensions && sizes?.length === 1) return [`vector ${words}`];
    return [family === "questions" && sizes === null && !isWeak ? `dtype ${dtype}` : name];
  }

  // A number's class depends on the array beside it; with several, only plain numbers are known.
  function numberKeys({ op, operands }, operand, place, own) {
    const { kind } = operand.number;
    const at = Numbers.place(operand.number);
    const first = FACTS.ops[op].conditionFirst ? 1 : 0;
    const arrays = operands.filter((o, number) => o.role === "array" && !o.isNumPy && number >= first);
    const [numbers, scalars] = arrays.length ? own.numbers.beside[arrays[0].dtype] : [{}, {}];
    if (operand.role === "NumPy scalar") {
      return arrays.length === 1 ? [`NumPy scalar ${operand.dtype} ${classOf(own, scalars[kind], at)}`] : null;
    }
    const keys = arrays.length === 1 ? [`number ${kind} ${classOf(own, numbers[kind], at)}`] : [];
    return own.numbers.plain[kind].includes(at) ? [...keys, `number ${kind} plain`] : keys;
  }

  const maps = new Map();

  // The class of a place among the bounds, from a map such as "-4:0 2:1", where runs begin.
  function classOf(own, number, at) {
    const text = own.numbers.maps[number];
    if (!maps.has(text)) maps.set(text, text.split(" ").map((pair) => pair.split(":").map(Number)));
    return maps.get(text).findLast(([begin]) => begin <= at)?.[1];
  }

  function told(chunk, [said, outcome, flags, compute, written, ...casts], count) {
    const result = chunk.results[outcome];
    if (result === "senseless") return { kind: result, steps: [chunk.sentences[said]] };
    const steps = chunk.steps[said].map((number) => chunk.sentences[number]);
    if (result === "refused") return { kind: result, steps };
    return {
      kind: "decided", steps, result,
      compute: chunk.results[compute],
      isWeak: Boolean(flags & 1),
      runs: !(flags & 2),
      casts: casts.slice(0, count).map((number) => castOf(chunk, number)),
      inside: casts.slice(count).filter(Boolean).map((number) => castOf(chunk, number)),
      written: castOf(chunk, written),
    };
  }

  // Casts count from 1 on.
  function castOf(chunk, number) {
    if (!number) return null;
    const [source, target, hazards, text] = chunk.casts[number - 1];
    const names = Object.keys(FACTS.hazards);
    return { source, target, text, hazards: hazards.map((place) => names[place]) };
  }

  return { receive, load, look, script };
})();
