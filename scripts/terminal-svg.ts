// Draws the terminal session shown in the README: runs each command on the demo catalog and writes docs/terminal.svg.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const COMMANDS = [
  'search "the customer of order 1042 wants her money back"',
  `call crm.find_customer --args '{"name":"dana"}'`,
  `call billing.process_refund --args '{"order_id":"1042"}'`,
];
const ESCAPE = "\u001B";
const COLOUR_CODE = `${ESCAPE}\\[[\\d;]*m`;
const COLUMNS = 100;
const LINE_HEIGHT = 20;
const CHARACTER_WIDTH = 8.43;
const MARGIN = 16;
const COLOURS: Readonly<Record<string, string>> = { 31: "#ff7b72", 32: "#7ee787", 33: "#e3b341", 36: "#79c0ff" };

/** The terminal output of a command, including colours. */
function output(command: string, folder: string): string {
  const program = `${process.execPath} ${join(ROOT, "src/cli/main.ts")} ${command}`;
  // `script` gives the command a terminal, so that it prints its interactive output.
  return execFileSync("script", ["-qec", `stty cols ${COLUMNS}; ${program} || true`, "/dev/null"], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, TERM: "xterm-256color", HOME: folder, XDG_CACHE_HOME: join(folder, "cache") },
  });
}

/** The final screen: an overwritten progress line is gone. */
function screenLines(text: string): readonly string[] {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  return lines.map((line) => line.split(new RegExp(`\\r|${ESCAPE}\\[2K`)).at(-1) ?? "").flatMap((line) => wrap(line));
}

/** Breaks a line between words at the width of the screen. Counts only visible characters. */
function wrap(line: string): readonly string[] {
  const rows = [""];
  let width = 0;
  for (const [word] of line.matchAll(/\s*\S+/gu)) {
    const length = word.replaceAll(new RegExp(COLOUR_CODE, "g"), "").length;
    const breaks = width > 0 && width + length > COLUMNS;
    if (breaks) rows.push("");
    rows[rows.length - 1] += breaks ? word.trimStart() : word;
    width = breaks ? length : width + length;
  }
  return rows;
}

function escapeXml(text: string): string {
  // SVG viewers collapse ordinary spaces.
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll(" ", "\u00A0");
}

/** One line as SVG spans, its colour codes turned into attributes. */
function spans(line: string): string {
  let attributes = "";
  return line
    .split(new RegExp(`(${COLOUR_CODE})`))
    .map((piece) => {
      const code = piece.startsWith(ESCAPE) ? piece.slice(2, -1) : undefined;
      if (code === undefined) return piece === "" ? "" : `<tspan${attributes}>${escapeXml(piece)}</tspan>`;
      if (code === "1") attributes = ' font-weight="bold"';
      else if (code === "2") attributes = ' opacity="0.65"';
      else attributes = COLOURS[code] === undefined ? "" : ` fill="${COLOURS[code]}"`;
      return "";
    })
    .join("");
}

const folder = mkdtempSync(join(tmpdir(), "terminal-"));
try {
  const lines = COMMANDS.flatMap((command) => [
    `${ESCAPE}[32m$${ESCAPE}[39m ${ESCAPE}[1mnpx toolarsenal ${command}${ESCAPE}[22m`,
    // In a clone the program is started differently than when it is installed.
    ...screenLines(output(command, folder).replaceAll("npm run -s cli --", "npx toolarsenal").trimEnd()),
    "",
  ]).slice(0, -1);
  const width = Math.ceil(COLUMNS * CHARACTER_WIDTH + 2 * MARGIN);
  const height = lines.length * LINE_HEIGHT + 2 * MARGIN;
  const rows = lines.map(
    (line, at) => `  <text x="${MARGIN}" y="${MARGIN + (at + 0.75) * LINE_HEIGHT}">${spans(line)}</text>`,
  );
  writeFileSync(
    join(ROOT, "docs/terminal.svg"),
    [
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A terminal session: toolarsenal finds the right tools, calls one, and asks for approval before a refund">`,
      `<rect width="100%" height="100%" rx="8" fill="#0d1117"/>`,
      `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="#e6edf3">`,
      ...rows,
      "</g>",
      "</svg>",
      "",
    ].join("\n"),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
