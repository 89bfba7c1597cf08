import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { ed25519Key, hmacKey } from "../../../guard/audit/key.ts";
import { type FileVerification, verify } from "../../../guard/audit/verifier.ts";
import type { AuditRecord } from "../../../guard/audit.port.ts";
import { auditContract } from "../../../testing/audit.contract.ts";
import { createManualClock } from "../../../testing/manual-clock.ts";
import { fileAudit, type FileAuditOptions } from "./file.ts";
import { auditFiles } from "./segment-writer.ts";

const root = mkdtempSync(join(tmpdir(), "arsenal-audit-"));
afterAll(() => rmSync(root, { recursive: true }));
let folders = 0;
const newFile = (): string => join(root, String(++folders), "audit.jsonl");

const key = hmacKey("a secret of thirty-two characters");
const record = (records: number): AuditRecord => ({ kind: "gap", records });

/** Opens a log, lets something be done to it and closes it. */
async function withLog(options: FileAuditOptions, records: readonly number[]): Promise<void> {
  const log = fileAudit({ key, ...options });
  for (const number of records) await log.append(record(number));
  await log.close();
}

const verifyFile = async (file: string): Promise<FileVerification> => verify(await auditFiles(file), { keys: [key] });

function recordsOf(file: string): readonly { readonly kind: string; readonly [field: string]: unknown }[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

describe("fileAudit, as an audit log", () => {
  for (const { name, run } of auditContract(() => ({ adapter: fileAudit({ file: newFile(), key }) }))) it(name, run);
});

describe("fileAudit", () => {
  it("writes lines with place, time, predecessor and hash, signed at the start and the end", async () => {
    const file = newFile();
    await withLog({ file, clock: createManualClock(1_000) }, [1]);
    const [start, only, end] = recordsOf(file);
    expect(start).toMatchObject({ seq: 1, at: 1_000, kind: "checkpoint", prev: "0".repeat(64), key: key.id });
    expect(only).toEqual({ seq: 2, at: 1_000, kind: "gap", records: 1, prev: start?.["hash"], hash: end?.["prev"] });
    expect(end).toMatchObject({ seq: 3, kind: "checkpoint" });
    expect(await verifyFile(file)).toMatchObject({ ok: true, records: 3, signedUpTo: 3 });
  });

  it("keeps 10,000 records that come at once, in their order", async () => {
    const file = newFile();
    const log = fileAudit({ file, key, fsync: "batch" });
    await Promise.all(Array.from({ length: 10_000 }, (_, index) => log.append(record(index))));
    await log.close();
    const numbers = recordsOf(file).filter(({ kind }) => kind === "gap");
    expect(numbers.map(({ records }) => records)).toEqual(Array.from({ length: 10_000 }, (_, index) => index));
    expect(await verifyFile(file)).toMatchObject({ ok: true });
  });

  it("has a record in the file before it says that it is kept", async () => {
    const file = newFile();
    const log = fileAudit({ file, key });
    await log.append(record(7));
    expect(recordsOf(file).at(-1)).toMatchObject({ records: 7 });
    await log.close();
  });

  it("goes on from where it ended, with no trace of an opening that recorded nothing", async () => {
    const file = newFile();
    await withLog({ file }, [1]);
    const before = readFileSync(file, "utf8");
    await withLog({ file }, []);
    expect(readFileSync(file, "utf8")).toBe(before);
    await withLog({ file }, [2]);
    expect(await verifyFile(file)).toMatchObject({ ok: true, records: 6 });
  });

  it("makes an Ed25519 key with the first use, for this user alone, and its public half checks the log", async () => {
    const file = newFile();
    const log = fileAudit({ file });
    await log.append(record(1));
    await log.close();
    const mode = (name: string): string => (statSync(name).mode & 0o777).toString(8);
    expect([mode(file), mode(`${file}.key`), mode(`${file}.lock`)]).toEqual(["600", "600", "600"]);
    const pem = readFileSync(`${file}.key.pub`, "utf8");
    expect(pem).toContain("BEGIN PUBLIC KEY");
    expect(await verify([file], { keys: [ed25519Key(pem)] })).toMatchObject({ ok: true, signedUpTo: 3 });
    const again = fileAudit({ file });
    await again.append(record(2));
    await again.close();
    expect(await verify([file], { keys: [ed25519Key(pem)] })).toMatchObject({ ok: true, signedUpTo: 6 });
  });

  it("refuses a private key that others can read, and takes it once that is fixed", async () => {
    const file = newFile();
    await withLog({ file, key: undefined as never }, [1]);
    chmodSync(`${file}.key`, 0o644);
    const log = fileAudit({ file });
    await expect(log.append(record(2))).rejects.toThrow(`chmod 600 ${file}.key`);
    chmodSync(`${file}.key`, 0o600);
    await log.append(record(3));
    await log.close();
  });

  it.each([1, 20, 150, 200, 5_000])(
    "cuts off a line of %i bytes that a crash left torn, and notes it",
    async (bytes) => {
      const file = newFile();
      await withLog({ file }, [1, 2]);
      const [line = ""] = readFileSync(file, "utf8").split("\n");
      appendFileSync(file, Buffer.alloc(bytes, line));
      expect(await verifyFile(file)).toMatchObject({ ok: false, seq: 5, line: 5, file });
      await withLog({ file }, [3]);
      expect(await verifyFile(file)).toMatchObject({ ok: true, records: 8 });
      expect(recordsOf(file)[4]).toMatchObject({ kind: "recovered", cutBytes: bytes });
    },
  );

  it("recovers a log whose only line is torn", async () => {
    const file = newFile();
    mkdirSync(join(file, ".."));
    writeFileSync(file, '{"hash":"12');
    await withLog({ file }, [3]);
    expect(await verifyFile(file)).toMatchObject({ ok: true });
    expect(recordsOf(file)[1]).toMatchObject({ kind: "recovered", cutBytes: 11 });
  });

  it("does not go on from a last line that was changed", async () => {
    const file = newFile();
    await withLog({ file }, [1]);
    writeFileSync(file, readFileSync(file, "utf8").replace(/"kind":"checkpoint"(?=[^\n]*\n$)/, '"kind":"checkmate!"'));
    const log = fileAudit({ file, key });
    await expect(log.append(record(2))).rejects.toThrow("was changed or damaged at its end");
    await expect(log.close()).resolves.toBeUndefined();
  });

  it("goes on in a new file where one is full, and the log holds together over all of them", async () => {
    const file = newFile();
    await withLog(
      { file, maxFileBytes: 1_000, checkpointEvery: 5 },
      Array.from({ length: 30 }, (_, index) => index),
    );
    await withLog({ file, maxFileBytes: 1_000, checkpointEvery: 5 }, [30]);
    const files = await auditFiles(file);
    expect(files.length).toBeGreaterThan(5);
    expect(files.at(-1)).toBe(file);
    const numbers = files.flatMap(recordsOf).filter(({ kind }) => kind === "gap");
    expect(numbers.map(({ records }) => records)).toEqual(Array.from({ length: 31 }, (_, index) => index));
    expect(await verifyFile(file)).toMatchObject({ ok: true });
    const missing = await verify(files.toSpliced(1, 1), { keys: [key] });
    const { seq = 0 } = recordsOf(files[1] ?? "")[0] as { readonly seq?: number };
    expect(missing).toMatchObject({ ok: false, seq, file: files[2], line: 1 });
  });

  it("goes on where a crash came between two files", async () => {
    const file = newFile();
    await withLog({ file, maxFileBytes: 1 }, [1]);
    const { seq } = recordsOf(file).at(-1) as unknown as { readonly seq: number };
    // As a crash leaves it: the full file has its new name, and the next one is not there yet.
    writeFileSync(`${file}.${String(seq).padStart(15, "0")}`, readFileSync(file));
    rmSync(file);
    await withLog({ file }, [2]);
    expect(await verifyFile(file)).toMatchObject({ ok: true });
  });

  it("notes that it was cut off while it was open", async () => {
    const file = newFile();
    const log = fileAudit({ file, key });
    for (const number of [1, 2, 3]) await log.append(record(number));
    const { length } = readFileSync(file, "utf8").split("\n").slice(0, 2).join("\n");
    truncateSync(file, length + 1);
    await log.append(record(4));
    await log.close();
    expect(await verifyFile(file)).toMatchObject({ ok: false, seq: 3, reason: expect.stringContaining("up to 4") });
  });

  it("rejects what it cannot write, leaves no half of it, and writes again when it can", async () => {
    const file = newFile();
    const log = fileAudit({ file, key });
    await log.append(record(1));
    rmSync(file);
    mkdirSync(file);
    await expect(log.append(record(2))).rejects.toMatchObject({
      code: "AUDIT_FAILED",
      message: expect.stringContaining("cannot be written"),
    });
    rmSync(file, { recursive: true });
    await log.append(record(3));
    await log.close();
    expect(recordsOf(file).map(({ kind }) => kind)).toEqual(["checkpoint", "rewound", "gap", "checkpoint"]);
  });

  it("goes on unharmed after a write that the disk took in part only", async () => {
    const file = newFile();
    const module = new URL("file.ts", import.meta.url).href;
    // The limit on the size of files stands in for a full disk: the large record does not fit, the small one after it does.
    const program = `
      const { fileAudit } = await import(${JSON.stringify(module)});
      const log = fileAudit({ file: ${JSON.stringify(file)} });
      const add = (key) => log.append({ kind: "approval", id: key, toolId: "pay", outcome: "requested" }).then(() => "kept", ({ code }) => code);
      console.log(await add("small"), await add("x".repeat(200_000)), await add("small again"));
      await log.close();`;
    const script = 'ulimit -f 64; exec "$0" --input-type=module --eval "$1"';
    const { stdout } = await promisify(execFile)("sh", ["-c", script, process.execPath, program]);
    expect(stdout).toBe("kept AUDIT_FAILED kept\n");
    const kinds = recordsOf(file).map(({ kind }) => kind);
    expect(kinds).toEqual(["checkpoint", "approval", "approval", "checkpoint"]);
    const keys = [ed25519Key(readFileSync(`${file}.key.pub`, "utf8"))];
    expect(await verify([file], { keys })).toMatchObject({ ok: true });
  });

  it("holds together where two processes write it at once", async () => {
    const file = newFile();
    const module = new URL("file.ts", import.meta.url).href;
    const program = `
      const { fileAudit } = await import(${JSON.stringify(module)});
      const log = fileAudit({ file: ${JSON.stringify(file)}, checkpointEvery: 10, maxFileBytes: 20_000 });
      process.stdout.write("ready");
      const [who] = await new Promise((resolve) => process.stdin.once("data", (data) => resolve(String(data))));
      for (let batch = 0; batch < 20; batch++)
        await Promise.all([1, 2, 3].map((records) => log.append({ kind: "gap", records, who })));
      await log.close();
      process.exit(0);`;
    const children = ["a", "b"].map(() =>
      spawn(process.execPath, ["--input-type=module", "--eval", program], { stdio: ["pipe", "pipe", "inherit"] }),
    );
    await Promise.all(children.map((child) => once(child.stdout, "data")));
    for (const [index, child] of children.entries()) child.stdin.write("ab"[index] ?? "");
    expect((await Promise.all(children.map((child) => once(child, "close")))).map(([code]) => code)).toEqual([0, 0]);
    const files = await auditFiles(file);
    const kept = files.flatMap(recordsOf).filter(({ kind }) => kind === "gap");
    expect(kept.filter(({ who }) => who === "a")).toHaveLength(60);
    expect(kept.filter(({ who }) => who === "b")).toHaveLength(60);
    const keys = [ed25519Key(readFileSync(`${file}.key.pub`, "utf8"))];
    expect(await verify(files, { keys })).toMatchObject({ ok: true });
  });

  it("is whole after a process was killed in the middle of writing", async () => {
    const file = newFile();
    const module = new URL("file.ts", import.meta.url).href;
    const program = `
      const { fileAudit } = await import(${JSON.stringify(module)});
      const log = fileAudit({ file: ${JSON.stringify(file)} });
      let kept = 0;
      for (;;) {
        await Promise.all(Array.from({ length: 50 }, () => log.append({ kind: "gap", records: 1 }, { survives: "crash" })));
        process.stdout.write(String((kept += 50)) + "\\n");
      }`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (said.split("\n").length > 20) child.kill("SIGKILL");
    });
    await once(child, "close");
    const log = fileAudit({ file });
    await log.append(record(2));
    await log.close();
    const keys = [ed25519Key(readFileSync(`${file}.key.pub`, "utf8"))];
    expect(await verify([file], { keys })).toMatchObject({ ok: true });
    const kept = recordsOf(file).filter(({ kind, records }) => kind === "gap" && records === 1);
    expect(kept.length).toBeGreaterThanOrEqual(Number(said.trim().split("\n").at(-1)));
  });

  it("has no files before it is used", () => {
    const file = newFile();
    fileAudit({ file });
    expect(existsSync(join(file, ".."))).toBe(false);
  });
});
