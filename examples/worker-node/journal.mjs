// The durable journal: one JSON record a line, appended and synced before the Worker answers.

import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

export class Journal {
  /** Opens the journal of a state directory and gives each record it holds to `apply`. */
  constructor(directory, apply) {
    const path = join(directory, "journal.jsonl");
    const fresh = !existsSync(path);
    this.apply = apply;
    this.pending = [];
    this.file = openSync(path, "a+");
    if (fresh) syncDirectory(directory);
    const bytes = readFileSync(path);
    const whole = bytes.lastIndexOf(10) + 1; // a torn last line was never answered for
    if (whole < bytes.length) ftruncateSync(this.file, whole);
    for (const line of bytes.subarray(0, whole).toString("utf8").split("\n")) {
      if (line) for (const record of JSON.parse(line)) apply(record);
    }
  }

  /** A record takes effect at once; it is durable after the next `commit`. */
  record(record) {
    this.apply(record);
    this.pending.push(record);
  }

  commit() {
    if (!this.pending.length) return;
    const bytes = Buffer.from(JSON.stringify(this.pending) + "\n");
    for (let written = 0; written < bytes.length;) written += writeSync(this.file, bytes, written);
    fsyncSync(this.file);
    this.pending = [];
  }

  close() {
    this.commit();
    closeSync(this.file);
  }
}

function syncDirectory(directory) {
  const handle = openSync(directory, "r");
  fsyncSync(handle);
  closeSync(handle);
}
