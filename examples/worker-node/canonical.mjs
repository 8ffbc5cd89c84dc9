// RFC 8785 canonical JSON, and a strict reader for wire bytes (PROTOCOL sections 2, 6.4, 17.4).

const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

/** The canonical text of a JSON value; throws for what I-JSON cannot hold. */
export function canonical(value) {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new Error("a number beyond binary64");
    return JSON.stringify(value);
  }
  if (typeof value === "string") {
    if (LONE_SURROGATE.test(value)) throw new Error("an unpaired surrogate");
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return "[" + value.map(canonical).join(",") + "]";
  const names = Object.keys(value).sort(); // by UTF-16 code units, as RFC 8785 wants
  return "{" + names.map((name) => canonical(name) + ":" + canonical(value[name])).join(",") + "}";
}

const ESCAPES = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const DEEPEST = 128;

/** Reads one JSON value of UTF-8 bytes: no mark, no trailing data, no duplicate names. */
export function readStrictly(bytes) {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) throw new Error("a byte-order mark");
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  let at = 0;
  const fail = (why) => { throw new Error(`${why} at ${at}`); };
  const blank = () => { while (" \t\n\r".includes(text[at] ?? "x")) at += 1; };
  const expect = (char) => { if (text[at] !== char) fail(`no ${char}`); at += 1; };

  function string() {
    expect('"');
    let out = "";
    for (;;) {
      const char = text[at++];
      if (char === undefined || char < " ") fail("a broken string");
      if (char === '"') return out;
      if (char !== "\\") { out += char; continue; }
      const escape = text[at++];
      if (escape === "u") {
        const hex = text.slice(at, at + 4);
        if (!/^[0-9a-fA-F]{4}$/.test(hex)) fail("a broken escape");
        out += String.fromCharCode(parseInt(hex, 16));
        at += 4;
      } else if (escape in ESCAPES) out += ESCAPES[escape];
      else fail("an unknown escape");
    }
  }

  function members(depth) {
    const object = {};
    at += 1;
    blank();
    if (text[at] === "}") { at += 1; return object; }
    for (;;) {
      blank();
      const name = string();
      if (Object.hasOwn(object, name)) fail("a duplicate name");
      blank();
      expect(":");
      const member = value(depth + 1);
      Object.defineProperty(object, name, { value: member, enumerable: true, writable: true });
      blank();
      if (text[at] === "}") { at += 1; return object; }
      expect(",");
    }
  }

  function elements(depth) {
    const array = [];
    at += 1;
    blank();
    if (text[at] === "]") { at += 1; return array; }
    for (;;) {
      array.push(value(depth + 1));
      blank();
      if (text[at] === "]") { at += 1; return array; }
      expect(",");
    }
  }

  function value(depth) {
    if (depth > DEEPEST) fail("nested too deep");
    blank();
    const char = text[at];
    if (char === "{") return members(depth);
    if (char === "[") return elements(depth);
    if (char === '"') return string();
    for (const [word, meaning] of [["true", true], ["false", false], ["null", null]]) {
      if (text.startsWith(word, at)) { at += word.length; return meaning; }
    }
    NUMBER.lastIndex = at;
    const match = NUMBER.exec(text);
    if (!match) fail("no value");
    at += match[0].length;
    return Number(match[0]);
  }

  const result = value(0);
  blank();
  if (at !== text.length) fail("trailing data");
  return result;
}
