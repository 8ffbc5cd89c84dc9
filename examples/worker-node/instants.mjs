// Times: milliseconds to reckon with, and exact comparison where the specification asks for it.

const FORM = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d+))?([Zz]|[+-]\d{2}:\d{2})$/;

export function millis(text) {
  return text === undefined ? Infinity : Date.parse(text.toUpperCase());
}

export function spell(time) {
  return new Date(time).toISOString().replace(".000Z", "Z");
}

/** Whole seconds and all digits of the fraction; undefined for what is no timestamp. */
function parts(text) {
  const match = FORM.exec(text);
  if (!match || match[4] === "-00:00" || match[1].startsWith("0000")) return undefined;
  const seconds = Date.parse(`${match[1]}T${match[2]}${match[4].toUpperCase()}`);
  return Number.isNaN(seconds) ? undefined : [seconds, (match[3] ?? "").replace(/0+$/, "")];
}

/** Whether one instant lies before another, without rounding. */
export function isBefore(one, other) {
  const [a, b] = [parts(one), parts(other)];
  if (!a || !b) throw new Error("not a timestamp");
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
}

/** Milliseconds of an ISO 8601 duration as contracts spell them, such as PT90S. */
export function durationMillis(text) {
  const match = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text ?? "");
  if (!match) return 0;
  const [days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0));
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000;
}
