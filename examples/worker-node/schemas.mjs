// The protocol's JSON Schemas, formats asserted (PROTOCOL section 2): as much of draft 2020-12 as they use.

import { readdirSync, readFileSync } from "node:fs";
import { canonical } from "./canonical.mjs";
import { isBefore } from "./instants.mjs";

const FOLDER = new URL("../../schemas/protocol/", import.meta.url);
const documents = new Map();
for (const name of readdirSync(FOLDER)) {
  if (!name.endsWith(".schema.json")) continue;
  const schema = JSON.parse(readFileSync(new URL(name, FOLDER), "utf8"));
  documents.set(schema.$id, schema);
  documents.set(name.replace(".schema.json", ""), schema);
}

const URI = /^[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$/;
const FORMATS = {
  uri: (text) => URI.test(text),
  "date-time": (text) => { try { isBefore(text, text); return !Number.isNaN(Date.parse(text)); } catch { return false; } },
};
const TYPES = {
  object: (v) => typeof v === "object" && v !== null && !Array.isArray(v),
  array: Array.isArray,
  string: (v) => typeof v === "string",
  number: (v) => typeof v === "number",
  integer: Number.isInteger,
  boolean: (v) => typeof v === "boolean",
  null: (v) => v === null,
};
const patterns = new Map();
const matches = (pattern, text) => {
  if (!patterns.has(pattern)) patterns.set(pattern, new RegExp(pattern, "u"));
  return patterns.get(pattern).test(text);
};
const same = (a, b) => a === b || canonical(a) === canonical(b);
const length = (text) => [...text].length;

function resolve(reference, root) {
  const [name, pointer = ""] = reference.split("#");
  const document = name ? documents.get(name) : root;
  const schema = pointer.split("/").slice(1).reduce((node, step) => node[step.replace("~1", "/").replace("~0", "~")], document);
  return [schema, document];
}

/** Whether a value fits a schema. */
function fits(value, schema, root) {
  if (typeof schema === "boolean") return schema;
  const sub = (part, v = value) => fits(v, part, root);
  if (schema.$ref && !fits(value, ...resolve(schema.$ref, root))) return false;
  if (schema.type && ![schema.type].flat().some((type) => TYPES[type](value))) return false;
  if ("const" in schema && !same(value, schema.const)) return false;
  if (schema.enum && !schema.enum.some((one) => same(value, one))) return false;
  if (schema.allOf && !schema.allOf.every((part) => sub(part))) return false;
  if (schema.anyOf && !schema.anyOf.some((part) => sub(part))) return false;
  if (schema.oneOf && schema.oneOf.filter((part) => sub(part)).length !== 1) return false;
  if (schema.not !== undefined && sub(schema.not)) return false;
  if (schema.if !== undefined && !sub((sub(schema.if) ? schema.then : schema.else) ?? true)) return false;
  if (typeof value === "string") {
    if (length(value) < (schema.minLength ?? 0) || length(value) > (schema.maxLength ?? Infinity)) return false;
    if (schema.pattern && !matches(schema.pattern, value)) return false;
    if (schema.format && !(FORMATS[schema.format]?.(value) ?? true)) return false;
  } else if (typeof value === "number") {
    if (value < (schema.minimum ?? -Infinity) || value > (schema.maximum ?? Infinity)) return false;
    if (value <= (schema.exclusiveMinimum ?? -Infinity)) return false;
  } else if (Array.isArray(value)) {
    if (value.length < (schema.minItems ?? 0) || value.length > (schema.maxItems ?? Infinity)) return false;
    if (schema.uniqueItems && new Set(value.map(canonical)).size < value.length) return false;
    if (schema.items !== undefined && !value.every((one) => sub(schema.items, one))) return false;
    if (schema.contains && !value.some((one) => sub(schema.contains, one))) return false;
  } else if (TYPES.object(value)) {
    if (!(schema.required ?? []).every((name) => Object.hasOwn(value, name))) return false;
    const { properties = {}, additionalProperties = true } = schema;
    for (const [name, member] of Object.entries(value)) {
      if (schema.propertyNames && !sub(schema.propertyNames, name)) return false;
      if (!sub(Object.hasOwn(properties, name) ? properties[name] : additionalProperties, member)) return false;
    }
    if (Object.keys(value).length < (schema.minProperties ?? 0)) return false;
  }
  return true;
}

/** Whether a document conforms to the normative schema of its kind, such as "event". */
export function conforms(value, kind) {
  const schema = documents.get(kind);
  return fits(value, schema, schema);
}
