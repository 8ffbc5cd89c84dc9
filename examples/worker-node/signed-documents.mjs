// The Signed Document Verification Profile (PROTOCOL section 6.4), and signing.

import { createHash, createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { canonical } from "./canonical.mjs";
import { isBefore } from "./instants.mjs";

const P = 2n ** 255n - 19n;
const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");
const SPKI = Buffer.from("302a300506032b6570032100", "hex");

const mod = (a) => ((a % P) + P) % P;
function power(base, exponent) {
  let result = 1n;
  for (let b = mod(base), e = exponent; e > 0n; e >>= 1n, b = (b * b) % P) if (e & 1n) result = (result * b) % P;
  return result;
}
const D = mod(-121665n * power(121666n, P - 2n));
const ROOT = power(2n, (P - 1n) / 4n);

function add([x1, y1, z1, t1], [x2, y2, z2, t2]) {
  const a = mod((y1 - x1) * (y2 - x2)), b = mod((y1 + x1) * (y2 + x2));
  const c = mod(2n * t1 * t2 * D), d = mod(2n * z1 * z2);
  const e = b - a, f = d - c, g = d + c, h = b + a;
  return [mod(e * f), mod(g * h), mod(f * g), mod(e * h)];
}

/** Strict decoding: canonical, on the curve, of prime order, not the identity. */
export function isStrictPoint(bytes) {
  if (bytes.length !== 32) return false;
  let y = 0n;
  for (let i = 31; i >= 0; i -= 1) y = (y << 8n) | BigInt(bytes[i]);
  const sign = y >> 255n;
  y &= (1n << 255n) - 1n;
  if (y >= P) return false;
  const u = mod(y * y - 1n), v = mod(D * y * y + 1n);
  let x = mod(u * power(v, 3n) * power(u * power(v, 7n), (P - 5n) / 8n));
  if (mod(v * x * x) === mod(-u)) x = mod(x * ROOT);
  else if (mod(v * x * x) !== u) return false;
  if (x === 0n) return false; // the identity, the point of order two, negative zero
  if ((x & 1n) !== sign) x = P - x;
  let sum = [0n, 1n, 1n, 0n];
  for (let point = [x, y, 1n, mod(x * y)], n = L; n > 0n; n >>= 1n, point = add(point, point)) {
    if (n & 1n) sum = add(sum, point);
  }
  return sum[0] === 0n && sum[1] === sum[2];
}

export function fromBase64url(text) {
  const bytes = Buffer.from(text, "base64url");
  if (bytes.toString("base64url") !== text) throw new Error("base64url that is not canonical");
  return bytes;
}

export function hashOf(value) {
  return "sha256:" + createHash("sha256").update(canonical(value)).digest("hex");
}

function signingBytes(document) {
  const { signature, ...rest } = document;
  return Buffer.from(canonical(rest));
}

const same = (a, b) => a.type === b.type && a.id === b.id;

/** The Organization's key registry as this Worker knows it. */
export class KeyRegistry {
  constructor(keys) {
    this.keys = new Map();
    const materials = new Set();
    for (const key of keys) {
      const known = this.keys.get(key.keyId);
      if ((known && known.publicKey !== key.publicKey) || (!known && materials.has(key.publicKey))) {
        this.broken = true; // reuse or alias: no document can be trusted
      }
      if (!isSound(key)) this.broken = true;
      materials.add(key.publicKey);
      this.keys.set(key.keyId, { ...key });
    }
  }

  /** Whether the document is authentic, its signer being exactly this Principal. */
  verifies(document, signer, timeMember) {
    try {
      const { signature } = document;
      const time = document[timeMember];
      if (this.broken || signature.algorithm !== "Ed25519") return false;
      if (!time.endsWith("Z") || signature.createdAt !== time) return false;
      const value = fromBase64url(signature.value);
      const key = this.keys.get(signature.keyId);
      if (value.length !== 64 || !key || !same(key.principal, signer)) return false;
      if (isBefore(time, key.validFrom)) return false;
      if (key.validUntil && !isBefore(time, key.validUntil)) return false;
      if (key.revokedAt && !isBefore(time, key.revokedAt)) return false;
      key.object ??= publicKeyObject(key);
      // With A of prime order, the provider's comparison of R by its bytes admits only strict points.
      return verify(null, signingBytes(document), key.object, value);
    } catch {
      return false;
    }
  }
}

const sound = new Map(); // what decoding said of each public key, which no later registry changes

/** A binding must be strict even if it signs nothing here: one that is broken spoils the evidence. */
function isSound({ algorithm, publicKey, validFrom, validUntil, revokedAt }) {
  try {
    for (const time of [validFrom, validUntil, revokedAt]) if (time !== undefined) isBefore(time, time);
    if (!sound.has(publicKey)) sound.set(publicKey, isStrictPoint(fromBase64url(publicKey)));
    return algorithm === "Ed25519" && sound.get(publicKey);
  } catch {
    return false;
  }
}

function publicKeyObject(key) {
  return createPublicKey({ key: Buffer.concat([SPKI, fromBase64url(key.publicKey)]), format: "der", type: "spki" });
}

/** Signs as one Agent. */
export class Signer {
  constructor(keyId, seed) {
    this.keyId = keyId;
    this.key = createPrivateKey({ key: Buffer.concat([PKCS8, fromBase64url(seed)]), format: "der", type: "pkcs8" });
  }

  sign(document, time) {
    const value = sign(null, signingBytes(document), this.key).toString("base64url");
    return { ...document, signature: { algorithm: "Ed25519", keyId: this.keyId, createdAt: time, value } };
  }
}
