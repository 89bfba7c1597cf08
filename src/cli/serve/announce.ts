import { internalsOf } from "../../arsenal.ts";
import { count, harmless } from "../../errors/show-value.ts";
import type { ToolArsenal } from "../../arsenal.ts";
import { showProblem } from "../../config/clients/server-problem.ts";
import { clientLines, type Endpoint } from "../arsenal/client-entries.ts";
import type { Finding } from "../checks/finding.ts";
import { toolsOf } from "../checks/sources.ts";
import type { Input, Terminal } from "../command.ts";
import type { SourceReport } from "../../config/start/start-configured.ts";
import type { ConfigFiles, Configured } from "../arsenal/open-arsenal.ts";
import type { ArsenalEvent, EventMap } from "../../observe/events.ts";
import { styles } from "../terminal/style.ts";
import { measureSaving, showSaving } from "./token-saving.ts";
import { toldFailure, type UpstreamReport, watchUpstream } from "./upstream-status.ts";

/** Reports the status of a served arsenal on stderr: lines of text, or one JSON object per line with `--json`. */
export function createAnnouncer(parts: {
  readonly arsenal: ToolArsenal;
  readonly input: Input;
  readonly terminal: Terminal;
  readonly mode: "static" | "dynamic" | "hybrid" | "code";
  /** The served toolset. Defaults to every tool. */
  readonly toolset?: string | undefined;
  /** The command that approves a pending call, without the id. */
  readonly approveCommand?: string | undefined;
}) {
  const { arsenal, input, terminal, mode, toolset, approveCommand } = parts;
  const paint = styles(terminal.err, terminal.environment);
  const watches = new Map<unknown, () => void>();
  let saidOfConfig: ReadonlySet<string> = new Set();
  let summed = false;
  let summing = false;
  let closed = false;

  const say = (text: string, data: object): void => {
    if (!closed) terminal.err.write(`${input.json ? JSON.stringify(data) : text}\n`);
  };
  const tell = (text: string): void => say(text, { message: text });

  /** Prints the total once the tools of every connected server are registered. Concurrent calls print it once. */
  const tellTotal = async (sources: Promise<unknown> = Promise.resolve()): Promise<void> => {
    if (summing) return;
    summing = true;
    try {
      await Promise.all([internalsOf(arsenal).upstreamsAttempted(), sources]);
      await internalsOf(arsenal).workflows();
      const saving = await measureSaving(arsenal, mode, toolset);
      say(`${showSaving(saving)}, mode ${mode}`, { mode, ...saving });
      summed = true;
    } catch (error) {
      if (!closed) throw error;
    } finally {
      summing = false;
    }
  };

  const tellUpstream = (report: UpstreamReport): void => {
    const { text, ...data } = report;
    say(report.state === "connected" ? paint.green(text) : paint.red(text), data);
    if (summed && report.state === "connected") void tellTotal();
  };

  const heard = ({ name, data }: ArsenalEvent): void => {
    if (name === "certificate-reloaded") {
      const { file, validTo } = data as EventMap["certificate-reloaded"];
      say(`Certificate reloaded: ${file}, valid until ${validTo.slice(0, 10)}.`, { certificate: { file, validTo } });
    }
    if (name !== "confirmation-requested") return;
    const { id, toolId, principal } = data as EventMap["confirmation-requested"];
    const how = approveCommand === undefined ? `Its id is ${id}.` : `Approve it with: ${approveCommand} ${id}`;
    say(paint.yellow(harmless(`${toolId} waits for approval (asked by ${principal}). ${how}`)), {
      waits: { id, toolId, principal },
    });
  };
  const endListening = arsenal.subscribe(heard, { names: ["certificate-reloaded", "confirmation-requested"] });
  const tellSources = async (reports: readonly SourceReport[]): Promise<void> => {
    const isWorkflow = ({ source }: SourceReport): boolean => source?.kind === "workflow";
    tellEach(reports.filter((report) => !isWorkflow(report)));
    if (!reports.some(isWorkflow)) return;
    await internalsOf(arsenal).upstreamsAttempted();
    await internalsOf(arsenal).workflows();
    tellEach(reports.filter(isWorkflow));
  };
  const tellEach = (reports: readonly SourceReport[]): void => {
    for (const report of reports) {
      const { type, name, place, error } = report;
      const tools = toolsOf(report);
      // A change of a server's status is reported separately.
      if (internalsOf(arsenal).upstreams.some((upstream) => upstream.name === name)) continue;
      const reason = error && toldFailure(error);
      if (reason === undefined) {
        const text = `${name}: ${count(tools, "tool")} (${type}${place === "" ? "" : `, ${place}`})`;
        say(paint.green(text), { source: name, state: "loaded", tools });
      } else say(paint.red(`${name}: failed: ${reason}`), { source: name, state: "failed", error: reason });
    }
  };

  return {
    tell,
    /** Prints the address, and the entries for clients. With `--json` also on stdout, unless stdout carries a protocol. */
    tellEndpoint(endpoint: Endpoint, files: ConfigFiles): void {
      const { url } = endpoint;
      const mcp = `${url}/mcp`;
      const others = { rest: `${url}/api/v1`, docs: `${url}/docs`, a2a: `${url}/a2a`, ui: `${url}/ui` };
      if (input.json) return void terminal.out.write(`${JSON.stringify({ url, mcp, ...others, mode })}\n`);
      const lines = clientLines(endpoint, { ...files, toolset });
      const what = toolset === undefined ? "Serving MCP at" : `Serving the toolset ${toolset} over MCP at`;
      const pasted = lines.map(({ client, file, json }) => `  ${paint.bold(client)}, ${file}\n    ${json}\n`).join("");
      const { rest, docs, a2a, ui } = others;
      const listed = `  REST  ${paint.cyan(rest)}\n  Docs  ${paint.cyan(docs)}\n  A2A   ${paint.cyan(a2a)}\n  UI    ${paint.cyan(ui)}\n`;
      terminal.err.write(`\n${paint.bold(what)} ${paint.cyan(mcp)}\n${listed}${pasted}`);
      terminal.err.write(`${paint.dim("Ctrl-C ends it.")}\n`);
    },
    /** Reports problems of the configuration, the status of each source, and the total once all were tried. */
    tellConfigured(configured: Configured, reports: readonly SourceReport[] | Promise<readonly SourceReport[]>): void {
      const lines = new Map<string, () => void>();
      for (const problem of configured.problems) {
        const text = `Left out: ${showProblem(problem)}`;
        lines.set(text, () => say(paint.yellow(text), { leftOut: problem }));
      }
      for (const note of configured.notes) {
        const text = `${note.server}: ${note.message}`;
        lines.set(text, () => say(paint.dim(text), { note }));
      }
      // Problems that were already reported are not repeated after a reload.
      for (const [text, sayIt] of lines) if (!saidOfConfig.has(text)) sayIt();
      saidOfConfig = new Set(lines.keys());
      const { upstreams } = internalsOf(arsenal);
      for (const [upstream, end] of watches) {
        if (upstreams.some((current) => current === upstream)) continue;
        end();
        watches.delete(upstream);
      }
      for (const upstream of upstreams)
        if (!watches.has(upstream)) watches.set(upstream, watchUpstream(upstream, tellUpstream));
      void tellTotal(Promise.resolve(reports).then(tellSources));
    },
    tellFindings(findings: readonly Finding[]): void {
      for (const { check, state, message, fix } of findings) {
        const text = `${check}: ${message}${fix === undefined ? "" : `\n  ${fix}`}`;
        say(state === "failed" ? paint.red(text) : paint.yellow(text), { finding: { check, state, message, fix } });
      }
    },
    close(): void {
      closed = true;
      endListening();
      for (const end of watches.values()) end();
    },
  };
}
