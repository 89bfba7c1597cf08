import { count, showValue } from "../../../errors/show-value.ts";
import { resolve } from "node:path";
import { readKeyFile } from "../../../adapters/audit/file/key-file.ts";
import { auditFiles } from "../../../adapters/audit/file/segment-writer.ts";
import { auditType } from "../../../config/load/chosen-adapters.ts";
import { auditKey, configuredAudit } from "../../../wire/parts.ts";
import { createSurroundings } from "../../../wire/surroundings.ts";
import type { ResolvedConfig } from "../../../config/load/resolve-config.ts";
import type { AuditKey } from "../../../guard/audit/key.ts";
import { localOperator } from "../../../guard/principal.ts";
import { createSecrets } from "../../../guard/secrets/secrets.ts";
import {
  type AuditLine,
  type FileVerification,
  linesOf,
  linesOfFiles,
  verifyLines,
} from "../../../guard/audit/verifier.ts";
import type { AuditHead } from "../../../guard/audit.port.ts";
import type { Command, Input, Terminal } from "../../command.ts";
import { readSettings } from "../../arsenal/open-arsenal.ts";
import { readNumber, wrongInput } from "../../input.ts";
import { clip, table } from "../../terminal/style.ts";

export const command: Command = {
  actions: {
    verify: { summary: "Check that no record was changed or removed" },
    tail: { summary: "Show the last records" },
    prune: { summary: "Remove old records; the rest can still be verified" },
  },
  options: {
    file: { value: "FILE", description: "Log file", fallback: "the log in the configuration" },
    head: { value: "SEQ:HASH", description: "For verify: a head that you saved earlier, to detect removed records" },
    key: { value: "FILE", description: "For verify: the key that signs the log, or its public key" },
    lines: { value: "N", description: "For tail: number of records", fallback: "20" },
    before: { value: "DATE", description: "For prune: remove the records before this day or time: 2026-01-31" },
    "dry-run": { description: "For prune: only count the records" },
  },
  examples: [
    "audit verify",
    "audit verify --head 1042:9f86d081…",
    "audit tail --lines 50 --json",
    "audit prune --before 2026-01-31",
  ],
  async run(input, terminal) {
    const [action = ""] = input.positionals;
    const before = action === "prune" ? readBefore(input) : 0;
    const config = await readSettings(input, terminal);
    const { head, key, file: given } = input.options;
    const type = given === undefined ? auditType(config.audit) : "file";
    const log = type === "postgres" ? tableLog(config, terminal) : await fileLog(config, input, terminal);
    try {
      if (await log.isEmpty()) {
        // The key is created together with the log, so a key without a log means that the log was removed.
        if (head !== undefined || key !== undefined || given !== undefined || (await log.hadKey())) {
          const fix = "Check the path, or find out who removed it.";
          throw wrongInput("--file", log.place, `There is no audit log at ${log.place}.`, fix);
        }
        if (input.json) terminal.out.write(action === "verify" ? `${JSON.stringify({ ok: true, records: 0 })}\n` : "");
        else terminal.err.write(`Nothing is recorded yet: ${log.place} is created by the first call.\n`);
        return 0;
      }
      if (action === "tail") return await tail(log, input, terminal);
      if (action === "prune") return await prune(before, config, input, terminal);
      const expected = readHead(head);
      const signer = await findKey(log.keyFile, config, input, terminal);
      if (signer === undefined && !input.json)
        terminal.err.write("Signatures were not checked: no key found. Pass --key FILE.\n");
      const found = await verifyLines(log.lines(), {
        ...(expected && { head: expected }),
        ...(signer && { keys: [signer] }),
      });
      terminal.out.write(`${input.json ? JSON.stringify(found) : inWords(found, log.files)}\n`);
      return found.ok ? 0 : 1;
    } finally {
      await log.close();
    }
  },
};

type ReadableLog = Awaited<ReturnType<typeof fileLog>>;

async function fileLog({ audit }: ResolvedConfig, { options }: Input, { folder }: Terminal) {
  const file = options["file"] === undefined ? audit.file : resolve(folder, options["file"]);
  if (file === undefined)
    throw wrongInput("--file", undefined, "No audit log is configured.", "Set audit.file, or pass --file FILE.");
  const { keyFile = `${file}.key` } = audit;
  const files = await auditFiles(file);
  return {
    /** The name of the log, for messages. */
    place: file,
    files: files.length,
    /** The file of the signing key, unless a secret is configured. */
    keyFile: keyFile as string | undefined,
    isEmpty: async (): Promise<boolean> => files.length === 0,
    hadKey: async (): Promise<boolean> => (await readKeyFile(keyFile)) !== undefined,
    lines: (): AsyncIterable<AuditLine> => linesOfFiles(files),
    /** Returns the last lines, oldest first. */
    async last(wanted: number): Promise<readonly string[]> {
      let lines: readonly string[] = [];
      for (const each of files.toReversed()) {
        if (lines.length >= wanted) break;
        lines = [...(await lastLines(each, wanted - lines.length)), ...lines];
      }
      return lines;
    },
    close: async (): Promise<void> => {},
  };
}

function tableLog(config: ResolvedConfig, terminal: Terminal): ReadableLog {
  const { audit } = config;
  const surroundings = createSurroundings(config, terminal);
  const opened = import("../../../adapters/audit/postgres.ts").then(({ openTable }) => openTable(audit, surroundings));
  return {
    place: `the table audit_record in the schema ${audit.schema ?? "toolarsenal"}`,
    files: 1,
    keyFile: audit.keyFile,
    isEmpty: async () => (await (await opened).last(1)).length === 0,
    hadKey: async () => false,
    async *lines() {
      yield* (await opened).lines();
    },
    last: async (wanted) => (await opened).last(wanted),
    async close() {
      await (await opened).close();
      surroundings.egress.close();
    },
  };
}

async function prune(before: number, config: ResolvedConfig, input: Input, terminal: Terminal): Promise<number> {
  const { file } = input.options;
  const audit =
    file === undefined ? config.audit : { ...config.audit, type: "file", file: resolve(terminal.folder, file) };
  const surroundings = createSurroundings(config, terminal);
  const log = configuredAudit({ ...config, audit } as ResolvedConfig, surroundings);
  try {
    const dryRun = input.flags.has("dry-run");
    const pruned = await log?.prune?.({ before, by: localOperator().id, dryRun });
    const { records = 0, through } = pruned ?? {};
    const day = new Date(before).toISOString();
    if (input.json) terminal.out.write(`${JSON.stringify({ ...pruned, before: day, dryRun })}\n`);
    else if (records === 0) terminal.out.write(`No record is older than ${day}.\n`);
    else
      terminal.out.write(
        `${dryRun ? "Would remove" : "Removed"} ${count(records, "record")} before ${day}, up to ${through?.seq}:${through?.hash}\n`,
      );
    return 0;
  } finally {
    await log?.close();
    surroundings.egress.close();
  }
}

/** Parses --before to milliseconds. A date is its first moment in UTC. */
function readBefore({ options }: Input): number {
  const given = options["before"];
  const fix = "Write a day, such as --before 2026-01-31, or a time in UTC, such as 2026-01-31T12:00:00Z.";
  if (given === undefined) throw wrongInput("--before", given, "prune needs --before DATE.", fix);
  const before = /^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d))?$/.test(given) ? Date.parse(given) : Number.NaN;
  if (Number.isNaN(before)) throw wrongInput("--before", given, `--before ${showValue(given)} is not a date.`, fix);
  if (before > Date.now())
    throw wrongInput("--before", given, `--before ${given} is in the future.`, "Name a day that has passed.");
  return before;
}

function inWords(found: FileVerification, files: number): string {
  if (!found.ok) {
    const place = found.file === undefined ? "" : ` (${found.file}:${found.line})`;
    return `Record ${found.seq} ${found.reason}.${place}`;
  }
  const { records, head, signedUpTo, missing, prunedThrough } = found;
  const where = files === 1 ? "" : ` in ${files} files`;
  const signed = signedUpTo === 0 ? "" : `, signed up to ${signedUpTo}`;
  const gaps =
    missing === undefined
      ? ""
      : `\n${count(missing, "record")} missing: the log could not be written. See the records of kind gap.`;
  const pruned =
    prunedThrough === undefined ? "" : `\nRecords up to ${prunedThrough} were pruned, as a record of the log declares.`;
  return `${count(records, "record")}${where} unchanged${signed}.${pruned}${gaps}\nHead ${head.seq}:${head.hash}`;
}

function readHead(given: string | undefined): AuditHead | undefined {
  if (given === undefined) return undefined;
  const [, seq, hash] = /^(\d+):([0-9a-f]{64})$/.exec(given) ?? [];
  if (seq !== undefined && hash !== undefined) return { seq: Number(seq), hash };
  throw wrongInput("--head", given, "--head is not a valid head.", "Use the SEQ:HASH that an earlier verify printed.");
}

/** Returns the given or configured key, or else the key next to the log. */
async function findKey(
  keyFile: string | undefined,
  { audit: { secret } }: ResolvedConfig,
  input: Input,
  { folder, environment }: Terminal,
): Promise<AuditKey | undefined> {
  const { key: given } = input.options;
  if (given === undefined) {
    if (secret === undefined)
      return keyFile === undefined ? undefined : ((await readKeyFile(keyFile)) ?? readKeyFile(`${keyFile}.pub`));
    const key = auditKey(secret, createSecrets({ environment }));
    return typeof key === "function" ? key() : key;
  }
  const key = await readKeyFile(resolve(folder, given));
  if (key !== undefined) return key;
  throw wrongInput("--key", given, `Cannot read the key ${given}.`, "Check the path.");
}

async function tail(log: ReadableLog, input: Input, terminal: Terminal): Promise<number> {
  const lines = await log.last(readNumber(input, "lines", { fallback: 20, min: 1, max: 100_000 }));
  if (input.json) terminal.out.write(lines.map((line) => `${line}\n`).join(""));
  else terminal.out.write(`${table(lines.map(toRow))}\n`);
  return 0;
}

async function lastLines(file: string, wanted: number): Promise<readonly string[]> {
  const decoder = new TextDecoder();
  let last: string[] = [];
  for await (const { bytes, whole } of linesOf(file)) {
    if (!whole) continue;
    last.push(decoder.decode(bytes));
    if (last.length > 2 * wanted) last = last.slice(-wanted);
  }
  return last.slice(-wanted);
}

function toRow(line: string): readonly (string | number)[] {
  try {
    const record = JSON.parse(line) as Record<string, unknown>;
    const { seq, at, kind, action, targets = [], status, outcome, code = "", principal, by, toolset } = record;
    const time = new Date(Number(at)).toISOString();
    const { toolId = [action ?? [], targets].flat(2).join(" ") } = record;
    const words = [kind, status ?? outcome ?? "", toolId, principal ?? by ?? "", code, toolset ?? ""];
    return [Number(seq), time, ...words.map((word) => clip(String(word), 60))];
  } catch {
    return ["?", "unreadable", clip(line, 60)];
  }
}
