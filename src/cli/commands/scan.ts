import { type EventEmitter, once } from "node:events";
import { createReadStream, existsSync, fstatSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import type { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import { PLACES, type Place } from "../../guard/scan/finding.ts";
import { SCAN_RULES } from "../../guard/scan/rules/all-rules.ts";
import { HIDING_RULES } from "../../guard/scan/scan-text.ts";
import { createScanner, type Scanner, type ScanReport } from "../../guard/scan/scanner.ts";
import { reaches, SEVERITIES } from "../../guard/scan/severity.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { Command, Input, Stream, Terminal } from "../command.ts";
import { configFiles, MCP_CONFIG, openArsenal } from "../open-arsenal.ts";
import { inputLines, MAX_LINE_BYTES } from "../scan/input-lines.ts";
import { createSarifLog, type SarifPlace } from "../scan/sarif.ts";

const FORMATS = ["json", "sarif"] as const;

/** `toolarsenal scan` */
export const scan: Command = {
  name: "scan",
  summary: "Look for hidden text and attacks in tools.",
  positionals: [],
  options: {
    tools: {
      type: "string",
      value: "FILE",
      description:
        'Scan this file, a line each: {"text": …} or a tool; - is standard input. The arsenal\'s tools where absent',
    },
    format: { type: "string", value: "F", description: `${FORMATS.join(" or ")}`, fallback: "json" },
    "fail-on": {
      type: "string",
      value: "SEVERITY",
      description: `Exit 1 where a finding reaches it: ${SEVERITIES.join(", ")}`,
    },
    ...MCP_CONFIG,
  },
  examples: [
    "scan",
    "scan --tools tools.jsonl --fail-on high",
    "scan --mcp-config mcp.json --format sarif > scan.sarif",
  ],
  async run(input, terminal) {
    const failOn = choice(input, "fail-on", SEVERITIES);
    const format = choice(input, "format", FORMATS) ?? "json";
    const scanner = createScanner({ mode: "flag" });
    const output = format === "sarif" ? sarifOutput() : lineOutput();
    const count = { scanned: 0, flagged: 0, unreadable: 0, failing: 0 };
    await write(terminal.out, output.begin);
    for await (const scanned of scannedItems(input, terminal, scanner)) {
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

/** One thing that was scanned, or could not be. */
type Scanned = { readonly place: SarifPlace } & ({ readonly report: ScanReport } | { readonly error: string });

async function* scannedItems(input: Input, terminal: Terminal, scanner: Scanner): AsyncGenerator<Scanned> {
  const source = inputStream(input, terminal);
  if (source !== undefined) {
    let line = 0;
    for await (const read of inputLines(source.stream)) {
      const place = { uri: source.uri, line: ++line };
      if ("tooLong" in read) yield { place, error: `The line is longer than ${MAX_LINE_BYTES} bytes.` };
      // Some editors begin a file with a byte order mark, which JSON does not know.
      else yield { place, ...scanLine(line === 1 ? read.text.replace(/^\uFEFF/, "") : read.text, scanner) };
    }
    return;
  }
  await using arsenal = await openArsenal(input, terminal);
  for (const tool of await arsenal.listTools()) yield { place: { tool: tool.id }, report: scanner.scanTool(tool) };
}

/** The file or stream to scan; undefined where it is the arsenal. */
function inputStream(
  input: Input,
  terminal: Terminal,
): { readonly stream: Readable; readonly uri: string } | undefined {
  const { tools } = input.options;
  const standard = terminal.protocol?.input ?? process.stdin;
  if (tools === "-") return { stream: standard, uri: "stdin" };
  if (typeof tools === "string") {
    const path = resolve(terminal.folder, tools);
    if (!existsSync(path)) {
      const fix = "Check the path.";
      throw new ArsenalError("INPUT_INVALID", `The file ${tools} cannot be read. ${fix}`, {
        field: "--tools",
        value: tools,
        fix,
      });
    }
    const beside = relative(terminal.folder, path);
    const uri = beside.startsWith("..") ? pathToFileURL(path).href : encodeURI(beside.split(sep).join("/"));
    return { stream: createReadStream(path), uri };
  }
  const piped = terminal.protocol !== undefined || isPiped();
  return configFiles(input, terminal) === undefined && piped ? { stream: standard, uri: "stdin" } : undefined;
}

/** True where somebody pipes or redirects something into the program. */
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
    return { report: scanner.scanText(text, PLACES.includes(place as Place) ? (place as Place) : undefined) };
  }
  if (typeof value["name"] !== "string" && typeof value["description"] !== "string")
    return { error: 'The line has neither "text" nor the "name" or "description" of a tool.' };
  return { report: scanner.scanTool(value) };
}

interface Output {
  readonly begin: string;
  item(scanned: Scanned): string;
  end(): string;
}

function lineOutput(): Output {
  return {
    begin: "",
    item(scanned) {
      if ("error" in scanned) return `${JSON.stringify({ error: scanned.error })}\n`;
      const { flagged, severity, findings, failure } = scanned.report;
      const tool = "tool" in scanned.place ? { tool: scanned.place.tool } : {};
      return `${JSON.stringify({ ...tool, flagged, severity, findings, ...(failure === undefined ? {} : { failure }) })}\n`;
    },
    end: () => "",
  };
}

function sarifOutput(): Output {
  const log = createSarifLog([...SCAN_RULES, ...HIDING_RULES]);
  return {
    begin: log.begin(),
    item({ place, ...scanned }) {
      const where = "tool" in place ? place.tool : `${place.uri}:${place.line}`;
      if ("error" in scanned) log.unreadable(`${where}: ${scanned.error}`);
      else if (scanned.report.failure !== undefined) log.unreadable(`${where}: ${scanned.report.failure}`);
      return "error" in scanned ? "" : scanned.report.findings.map((finding) => log.result(finding, place)).join("");
    },
    end: () => log.end(),
  };
}

/** Writes, and waits where the reader is slower than the scan: otherwise a million lines would pile up here. */
async function write(out: Stream, text: string): Promise<void> {
  if (text !== "" && out.write(text) === false && "once" in out) await once(out as unknown as EventEmitter, "drain");
}

function choice<Value extends string>(input: Input, option: string, known: readonly Value[]): Value | undefined {
  const value = input.options[option];
  if (value === undefined) return undefined;
  const found = known.find((name) => name === value);
  if (found !== undefined) return found;
  const fix = `Use one of ${known.join(", ")}.`;
  throw new ArsenalError("INPUT_INVALID", `--${option} is ${showValue(value)}. ${fix}`, {
    field: `--${option}`,
    value,
    fix,
  });
}
