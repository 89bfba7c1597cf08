import { setNewest } from "../base/remember.ts";
import { fixable } from "../errors/arsenal-error.ts";
import { nearest, showValue } from "../errors/show-value.ts";
import type { ExecutionStatus } from "../execute/result.ts";
import type { Principal } from "../guard/principal.ts";
import type { Clock } from "../observe/clock.ts";
import type { Run } from "../runs/run.ts";
import type { Runs } from "../runs/runs.ts";
import type { Tool } from "../tool/tool.ts";
import { declarationOf, signatureOf } from "./declarations.ts";
import { createNames, type ProgramNames } from "./names.ts";
import type { ProgramBounds, ProgramHost } from "./program.ts";
import { createLearnedResults } from "./results.ts";
import { programRunner, type ProgramValue, type ProgramWork } from "./run-program.ts";

/** A program to run. */
export interface CodeRequest {
  /** JavaScript or TypeScript. The value is the returned value, or the value of the last expression. */
  readonly code: string;
  /** JSON data for the program's `input`, in place of the value that the program declares. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** The caller. Defaults to the local operator. */
  readonly principal?: Principal;
  /** Limits the program to the tools of this toolset. Defaults to the whole catalog. */
  readonly toolset?: string;
  /** Cancels the program and its calls. */
  readonly signal?: AbortSignal;
  /** The trace that the program belongs to. Defaults to a new one. */
  readonly traceId?: string;
  readonly parentSpanId?: string;
}

/** A call that a program made. */
export interface CodeCall {
  readonly tool: string;
  readonly status: ExecutionStatus;
  readonly durationMs: number;
}

/** The outcome of a program. */
export interface CodeResult {
  /** Identifies the run. Runs are kept for a day. */
  readonly runId: string;
  readonly status: "success" | "failure" | "pending_confirmation" | "cancelled";
  readonly value?: unknown;
  /** The lines that the program printed. */
  readonly logs: readonly string[];
  /** In the order in which the calls ended. */
  readonly calls: readonly CodeCall[];
  /** Names the part that was cut from the value, and how to get the rest. */
  readonly truncated?: string;
  readonly error?: { readonly message: string; readonly line?: number };
  /** The approval that the program waits for. Once it is answered, the program continues; run the same code again for its result. */
  readonly confirmationId?: string;
  readonly traceId: string;
}

/** In characters. */
export const MOST_CODE = 256 * 1024;

const MOST_VIEWS = 64;

export type CodeMode = ReturnType<typeof createCodeMode>;

/** Runs models' programs with the tools that the caller may see, and describes these tools as declarations. */
export function createCodeMode(parts: {
  readonly runs: Runs;
  readonly host: () => ProgramHost;
  readonly bounds: ProgramBounds;
  readonly clock: Clock;
  readonly operator: Principal;
  readonly listTools: (options: {
    readonly principal: Principal;
    readonly toolset?: string;
  }) => Promise<readonly Tool[]>;
  /** Registers a callback for changes of the tools that callers may see. Returns a function that unsubscribes it. */
  readonly onCatalogChange: (changed: () => void) => () => void;
  readonly newIds: () => { readonly traceId: string; readonly spanId: string };
}) {
  const { runs, operator, listTools } = parts;
  const learned = createLearnedResults();
  const views = new Map<string, Promise<ProgramNames>>();
  const unsubscribe = parts.onCatalogChange(() => views.clear());

  /** Returns the names of the tools that a caller may call, cached until the catalog changes. Each call is still checked. */
  function namesOf(principal: Principal, toolset: string | undefined): Promise<ProgramNames> {
    const { id, tenant, roles, capabilities, scopes, local } = principal;
    const key = JSON.stringify([id, tenant ?? null, roles, capabilities, scopes, local, toolset ?? null]);
    const view =
      views.get(key) ?? listTools({ principal, ...(toolset !== undefined && { toolset }) }).then(createNames);
    view.catch(() => views.delete(key));
    return setNewest(views, key, view, MOST_VIEWS);
  }

  runs.use("program", programRunner({ ...parts, namesOf, learned }));
  runs.watch();

  return {
    async run(request: CodeRequest): Promise<CodeResult> {
      const { code, input, principal = operator, toolset, signal, traceId, parentSpanId } = request;
      checkCode(code);
      const ids = parts.newIds();
      const work: ProgramWork = { code, ...(input !== undefined && { input }) };
      const run = await runs.start({
        kind: "program",
        work,
        title: titleOf(code),
        principal,
        toolset,
        traceId: traceId ?? ids.traceId,
        spanId: ids.spanId,
        parentSpanId,
        signal,
      });
      return toCodeResult(run);
    },
    /** Prepares for the first program, and continues programs of processes that died. */
    prepare: (): void => parts.host().prepare(),
    /** Returns the line for a tool in the results of `search`. */
    signature: (tool: Tool, principal: Principal): string => signatureOf(tool, learned.typeOf(tool, principal)),
    /** Returns the declarations of tools, by program name or by id. For an unknown name, suggests the nearest one. */
    async describe(
      tools: readonly string[],
      by: { readonly principal?: Principal; readonly toolset?: string | undefined } = {},
    ): Promise<string> {
      const { principal = operator, toolset } = by;
      const names = await namesOf(principal, toolset);
      const described = tools.map((name) => {
        const tool = names.find(name);
        if (tool !== undefined) return declarationOf(tool, learned.typeOf(tool, principal));
        const near = nearest(name, names.all());
        const help = near === undefined ? "Use search to find tools." : `Did you mean ${near}?`;
        return `// There is no tool ${showValue(name)}. ${help}`;
      });
      return described.join("\n");
    },
    /** Returns the ids of the tools that a program names, as its caller sees them. */
    namedIn: async (code: string, principal: Principal, toolset: string | undefined): Promise<readonly string[]> =>
      (await namesOf(principal, toolset)).calledIn(code),
    toolCount: async (principal: Principal, toolset?: string): Promise<number> =>
      (await namesOf(principal, toolset)).size,
    close: unsubscribe,
  };
}

function checkCode(code: unknown): void {
  const field = "code";
  if (typeof code !== "string" || code.trim() === "")
    throw fixable("INPUT_INVALID", `code is ${showValue(code)}.`, "Give a program as text.", { field, value: code });
  if (code.length <= MOST_CODE) return;
  const problem = `code has ${code.length} characters, and the limit is ${MOST_CODE}.`;
  throw fixable("INPUT_INVALID", problem, "Let tools store the data instead of writing it into the program.", {
    field,
  });
}

function titleOf(code: string): string {
  const line = code.split("\n").find((each) => each.trim() !== "") ?? "";
  return line.trim().slice(0, 120);
}

/** Converts a run to the result that the caller of `run` gets. */
export function toCodeResult(run: Run): CodeResult {
  const { value, logs = [], truncated } = (run.result ?? {}) as Partial<ProgramValue>;
  const calls = run.calls.map(({ tool, status, durationMs }) => ({ tool, status, durationMs }));
  const own = { runId: run.id, logs, calls, traceId: run.traceId };
  switch (run.status) {
    case "done":
      return { ...own, status: "success", value, ...(truncated !== undefined && { truncated }) };
    case "failed":
      return { ...own, status: "failure", error: errorOf(run) };
    case "cancelled":
      return { ...own, status: "cancelled", error: errorOf(run) };
    case "running":
    case "waiting": {
      const [wait] = run.waits;
      const confirmationId = wait?.confirmationId ?? "";
      const message = `${wait?.tool ?? "A call"} waits for a person's approval (${confirmationId}). Ask the user to approve it, then run exactly the same code again: the program goes on from there, and nothing that ran is repeated.`;
      return { ...own, status: "pending_confirmation", confirmationId, error: { message } };
    }
  }
}

function errorOf({ error }: Run): { readonly message: string; readonly line?: number } {
  const { message = "The program failed.", line } = error ?? {};
  return { message, ...(line !== undefined && { line }) };
}
