import { internalsOf } from "../../../arsenal.ts";
import { type EventEmitter, once } from "node:events";
import { createReadStream, existsSync, fstatSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import type { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { wordingScanner } from "../../../adapters/scanners/wording/wording.ts";
import { showValue } from "../../../errors/show-value.ts";
import { type TextPlace, PLACES, reaches, SEVERITIES } from "../../../guard/scan/finding.ts";
import { createScanner, type Scanner, type ScanReport } from "../../../guard/scan/scanner.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import type { Command, Input, Stream, Terminal } from "../../command.ts";
import { configFiles, MCP_CONFIG, openArsenal } from "../../arsenal/open-arsenal.ts";
import { readChoice, wrongInput } from "../../input.ts";
import { inputLines, MAX_LINE_BYTES } from "../../scan/input-lines.ts";
import { lineOutput, sarifOutput, type Scanned, tableOutput } from "../../scan/outputs.ts";

const OUTPUTS = { json: lineOutput, table: tableOutput, sarif: sarifOutput };
const FORMATS = Object.keys(OUTPUTS) as readonly (keyof typeof OUTPUTS)[];

export const command: Command = {
  options: {
    tools: {
      value: "FILE",
      description: 'Scan this file instead, one {"text": …} or tool per line; - reads standard input',
      fallback: "the configured tools and servers",
    },
    format: {
      value: "F",
      description: `Output format: ${FORMATS.join(", ")}`,
      fallback: "table on a terminal, else json; always json with --tools",
    },
    "fail-on": {
      value: "SEVERITY",
      description: `Exit 1 if a finding is at least this severe: ${SEVERITIES.join(", ")}`,
    },
    ...MCP_CONFIG,
  },
  examples: [
    "scan",
    "scan --tools tools.jsonl --fail-on high",
    "scan --mcp-config mcp.json --format sarif > scan.sarif",
  ],
  async run(input, terminal) {
    const failOn = readChoice(input, "fail-on", SEVERITIES);
    const format = readChoice(input, "format", FORMATS);
    const source = inputStream(input, terminal);
    const scanner = createScanner({ mode: "flag", scanners: [wordingScanner()] });
    // The table is for a person who inspects configured tools. For line input, the output is also lines.
    const isWatched = terminal.out.isTTY === true && !input.json && source === undefined;
    const output = OUTPUTS[format ?? (isWatched ? "table" : "json")](terminal);
    const count = { scanned: 0, flagged: 0, unreadable: 0, failing: 0 };
    await write(terminal.out, output.begin);
    const items = source === undefined ? configuredItems(input, terminal, scanner) : lineItems(source, scanner);
    for await (const scanned of items) {
      if ("error" in scanned) count.unreadable++;
      else {
        count.scanned++;
        if (scanned.report.flagged) count.flagged++;
        const { severity, failure } = scanned.report;
        if (failOn !== undefined && (failure !== undefined || (severity !== null && reaches(severity, failOn))))
          count.failing++;
      }
      await write(terminal.out, output.item(scanned));
      if (terminal.signal.aborted) break;
    }
    await write(terminal.out, output.end());
    const unreadable = count.unreadable > 0 ? `, ${count.unreadable} unreadable` : "";
    terminal.err.write(`${count.scanned} scanned, ${count.flagged} flagged${unreadable}\n`);
    return count.failing > 0 ? 1 : 0;
  },
};

async function* lineItems({ stream, uri }: LineSource, scanner: Scanner): AsyncGenerator<Scanned> {
  let line = 0;
  for await (const read of inputLines(stream)) {
    const place = { uri, line: ++line };
    if ("tooLong" in read) yield { place, error: `The line is longer than ${MAX_LINE_BYTES} bytes.` };
    // Some editors begin a file with a byte order mark, which is not JSON.
    else yield { place, ...scanLine(line === 1 ? read.text.replace(/^\uFEFF/, "") : read.text, scanner) };
  }
}

/** Scans the instructions of each server, then every tool, as offered: before anything is blocked, neutralised or pinned. */
async function* configuredItems(input: Input, terminal: Terminal, scanner: Scanner): AsyncGenerator<Scanned> {
  await using arsenal = await openArsenal(input, terminal, { asOffered: true });
  for (const { name, state } of internalsOf(arsenal).upstreams) {
    if (state.kind !== "connected" || state.server.instructions === undefined) continue;
    const report = scanner.scanText(state.server.instructions, "definition");
    const findings = report.findings.map((finding) => ({ ...finding, path: "instructions" }));
    yield { place: { server: name }, report: { ...report, findings } };
  }
  for (const tool of await arsenal.listTools({ includeRefused: true }))
    yield { place: { tool: tool.id }, report: scanner.scanTool(tool) };
}

interface LineSource {
  readonly stream: Readable;
  readonly uri: string;
}

/** Returns the file or stream to scan; undefined to scan the configured sources. */
function inputStream(input: Input, terminal: Terminal): LineSource | undefined {
  const { tools } = input.options;
  const standard = terminal.protocol?.input ?? process.stdin;
  if (tools === "-") return { stream: standard, uri: "stdin" };
  if (tools !== undefined) {
    const path = resolve(terminal.folder, tools);
    if (!existsSync(path)) throw wrongInput("--tools", tools, `Cannot read ${tools}.`, "Check the path.");
    const beside = relative(terminal.folder, path);
    const uri = beside.startsWith("..") ? pathToFileURL(path).href : encodeURI(beside.split(sep).join("/"));
    return { stream: createReadStream(path), uri };
  }
  const piped = terminal.protocol !== undefined || isPiped();
  return configFiles(input, terminal).paths.length === 0 && piped ? { stream: standard, uri: "stdin" } : undefined;
}

/** Returns true if input is piped or redirected into the program. */
function isPiped(): boolean {
  try {
    const standard = fstatSync(0);
    return standard.isFIFO() || standard.isSocket() || standard.isFile();
  } catch {
    return false;
  }
}

function scanLine(line: string, scanner: Scanner): { readonly report: ScanReport } | { readonly error: string } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { error: `The line is not JSON: ${showValue(line)}.` };
  }
  if (!isPlainObject(value)) return { error: `The line is ${showValue(value)}, not an object.` };
  const { text, place } = value;
  if (text !== undefined) {
    if (typeof text !== "string") return { error: `"text" is ${showValue(text)}, not a text.` };
    return { report: scanner.scanText(text, PLACES.includes(place as TextPlace) ? (place as TextPlace) : undefined) };
  }
  if (typeof value["name"] !== "string" && typeof value["description"] !== "string")
    return { error: 'The line has neither "text" nor the "name" or "description" of a tool.' };
  return { report: scanner.scanTool(value) };
}

/** Writes, and waits for a slow reader. Otherwise a million lines would accumulate in memory. */
async function write(out: Stream, text: string): Promise<void> {
  if (text !== "" && out.write(text) === false && "once" in out) await once(out as unknown as EventEmitter, "drain");
}
