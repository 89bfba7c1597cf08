import { randomUUID } from "node:crypto";
import { fixable } from "../../errors/arsenal-error.ts";
import { nearest, showValue } from "../../errors/show-value.ts";
import type { CallAudit } from "../../guard/audit/call-audit.ts";
import type { Principal } from "../../guard/principal.ts";
import type { Clock } from "../../observe/clock.ts";
import type { Run } from "../../runs/run.ts";
import type { Changes } from "../../state/changes.port.ts";
import type { State } from "../../state/state.port.ts";
import { defineTool } from "../../tool/define-tool.ts";
import type { JsonSchema } from "../../tool/json-schema.ts";
import { checkOf, throwFor } from "../../tool/shape/check.ts";
import type { ProgramValue, ProgramWork } from "../run-program.ts";
import { SAVED_KEY, SAVED_TOPIC } from "./keys.ts";
import { declaredInputs, readsInput } from "./program-input.ts";
import {
  checkInputs,
  digestOf,
  SAVE_PROGRAM,
  SAVED_NAMESPACE,
  type SavedProgram,
  type SaveProgram,
  shapeOf,
} from "./saved-program.ts";

const checkRequest = checkOf(SAVE_PROGRAM);

/** Limits: saved programs in total, and proposals of one caller that wait for an operator. */
const MOST_SAVED = 1_000;
const MOST_PROPOSED = 20;

export interface SavedBy {
  readonly principal: Principal;
  /** Programs that an operator saves are accepted immediately. */
  readonly isOperator: boolean;
}

export type SavedPrograms = ReturnType<typeof createSavedPrograms>;

/** Stores programs that a person accepted as tools in the shared state. Every change is audited. */
export function createSavedPrograms(parts: {
  readonly documents: State;
  readonly changes: Pick<Changes, "publish">;
  readonly clock: Clock;
  readonly getRun: (id: string) => Promise<Run | undefined>;
  /** Returns the ids of the tools that a program names, as its caller sees them. */
  readonly namedIn: (code: string, principal: Principal, toolset: string | undefined) => Promise<readonly string[]>;
  readonly audit: () => Promise<Pick<CallAudit, "refusal" | "record"> | undefined>;
  /** Resolves when this process offers the current accepted programs. `accepted` was just accepted by a person. */
  readonly onChange: (accepted?: { readonly name: string; readonly by: Principal }) => Promise<void>;
}) {
  const { documents, changes, clock } = parts;

  async function entryOf(name: string) {
    const found = await documents.get(SAVED_KEY + name);
    return found && { program: found.value as SavedProgram, version: found.version };
  }

  const all = async (): Promise<readonly SavedProgram[]> =>
    (await documents.list(SAVED_KEY)).map(({ value }) => value as SavedProgram);

  /** Makes a change, and audits it before and afterwards. */
  async function audited<Result>(
    action: string,
    program: Pick<SavedProgram, "name" | "digest">,
    { principal }: SavedBy,
    run: () => Promise<Result>,
  ): Promise<Result> {
    const audit = await parts.audit();
    const id = randomUUID();
    const targets = [`${SAVED_NAMESPACE}.${program.name}`, `sha256:${program.digest}`];
    const { tenant } = principal;
    const own = {
      kind: "operator-action",
      id,
      action,
      targets,
      by: principal.id,
      ...(tenant !== undefined && { tenant }),
    } as const;
    const problem = (await audit?.refusal(undefined, true)) ?? (await audit?.record({ ...own, outcome: "started" }));
    if (problem !== undefined)
      throw fixable(
        "AUDIT_FAILED",
        `${action} was refused: it cannot be recorded: ${problem}.`,
        "Make the audit log writable.",
      );
    try {
      const result = await run();
      await audit?.record({ ...own, outcome: "done" });
      return result;
    } catch (error) {
      await audit?.record({ ...own, outcome: "failed" });
      throw error;
    }
  }

  async function changed({ name, status }: Pick<SavedProgram, "name" | "status">, by: Principal): Promise<void> {
    await changes.publish(SAVED_TOPIC, {});
    await parts.onChange(status === "accepted" ? { name, by } : undefined);
  }

  /** Returns the program with a name, if the caller may see it. */
  async function find(name: string, by: SavedBy) {
    const found = await entryOf(name);
    if (found !== undefined && maySee(found.program, by)) return found;
    const near = nearest(
      name,
      (await all()).filter((each) => maySee(each, by)).map((each) => each.name),
    );
    const fix = near === undefined ? "List the saved programs to see which there are." : `Did you mean ${near}?`;
    throw fixable("TOOL_NOT_FOUND", `There is no saved program ${showValue(name)}.`, fix, {
      field: "name",
      value: name,
    });
  }

  return {
    /**
     * Saves the program of a run that succeeded. An operator's program becomes a tool immediately; another caller's program waits until an operator
     * accepts it. Throws INPUT_INVALID with a fix if the program cannot be a tool.
     */
    async save(request: SaveProgram, by: SavedBy): Promise<SavedProgram> {
      checkRequest(request, "", throwFor("program", "INPUT_INVALID"));
      const { name, description, runId } = request;
      const { principal, isOperator } = by;
      const run = await parts.getRun(runId);
      if (run === undefined || run.kind !== "program" || !isOwn(run, by)) {
        const fix = "List the runs. Runs are kept for a day, up to 1,000 for each caller.";
        throw fixable("INPUT_INVALID", "The program does not exist, or you may not see it.", fix, {
          field: "runId",
          value: runId,
        });
      }
      if (run.status !== "done") {
        const problem = `The program has the status ${run.status}, but only a program that succeeded can be saved.`;
        throw fixable("INPUT_INVALID", problem, "Run it until it succeeds, and save that run.", {
          field: "runId",
          value: runId,
        });
      }
      const { code } = run.work as ProgramWork;
      const inputs: JsonSchema = request.inputs ??
        declaredInputs(code) ?? { type: "object", properties: {}, additionalProperties: false };
      checkInputs(inputs, readsInput(code));
      const returns = request.returns ?? shapeOf((run.result as ProgramValue | undefined)?.value);
      // Applies the same checks as for a tool that a person defines.
      defineTool({ name, namespace: SAVED_NAMESPACE, description, parameters: inputs, ...(returns && { returns }) });
      const named = await parts.namedIn(code, run.owner, run.toolset);
      const tools = [...new Set([...run.calls.map(({ tool }) => tool), ...named])].toSorted();
      const before = await entryOf(name);
      if (before !== undefined) checkReplace(before.program, by);
      await checkRoom(before?.program, by);
      const content = { description, code, inputs, ...(returns && { returns }), tools };
      const { tenant } = principal;
      const program: SavedProgram = {
        name,
        status: isOperator ? "accepted" : "proposed",
        ...content,
        digest: digestOf(content),
        runId,
        savedBy: principal.id,
        ...(tenant !== undefined && { tenant }),
        savedAt: Math.round(clock.now()),
        ...(isOperator && { acceptedBy: principal.id }),
      };
      return audited(isOperator ? "saveProgram" : "proposeProgram", program, by, async () => {
        await put(program, before?.version ?? "absent");
        await changed(program, principal);
        return program;
      });
    },

    /** Makes a proposed program a tool. With `digest`, only if the program is still the one that the caller reviewed. */
    async accept(
      name: string,
      by: SavedBy,
      options: { readonly digest?: string | undefined } = {},
    ): Promise<SavedProgram> {
      const { program, version } = await find(name, by);
      if (!by.isOperator) throw notOperator(by, "accept");
      if (options.digest !== undefined && options.digest !== program.digest) {
        const problem = `The program ${name} has the digest ${program.digest}, not ${options.digest}.`;
        throw fixable("INPUT_INVALID", problem, "Review the program again: it has changed.", {
          field: "digest",
          value: options.digest,
        });
      }
      if (program.status === "accepted") return program;
      if (!isWhole(program))
        throw fixable("INPUT_INVALID", notWhole(name), "Remove it, and save it again.", { field: "name", value: name });
      const accepted: SavedProgram = { ...program, status: "accepted", acceptedBy: by.principal.id };
      return audited("acceptProgram", program, by, async () => {
        await put(accepted, version);
        await changed(accepted, by.principal);
        return accepted;
      });
    },

    /** Lists the programs that the caller may see, by name. An operator sees all programs of its tenant, other callers see their own. */
    async list(by: SavedBy): Promise<readonly SavedProgram[]> {
      return (await all()).filter((each) => maySee(each, by));
    },

    /** Throws TOOL_NOT_FOUND, with the nearest name, if the caller may see no program of that name. */
    get: async (name: string, by: SavedBy): Promise<SavedProgram> => (await find(name, by)).program,

    /** Removes a program and its tool. Callers without the operator role can withdraw their own proposals. */
    async remove(name: string, by: SavedBy): Promise<void> {
      const { program, version } = await find(name, by);
      if (!by.isOperator && program.status !== "proposed") throw notOperator(by, "remove");
      checkTenant(program, by);
      await audited("removeSavedProgram", program, by, async () => {
        if (!(await documents.delete(SAVED_KEY + name, { ifVersion: version }))) throw changedMeanwhile(name);
        await changed({ name, status: "proposed" }, by.principal);
      });
    },

    /** Returns the accepted programs. A program whose stored document was altered by other means is left out and reported. */
    async accepted(): Promise<{ readonly programs: readonly SavedProgram[]; readonly changed: readonly string[] }> {
      const found = (await all()).filter(({ status }) => status === "accepted");
      return {
        programs: found.filter(isWhole),
        changed: found.filter((each) => !isWhole(each)).map(({ name }) => name),
      };
    },
  };

  async function put(program: SavedProgram, version: number | "absent"): Promise<void> {
    if (!(await documents.set(SAVED_KEY + program.name, program, { ifVersion: version })))
      throw changedMeanwhile(program.name);
  }

  async function checkRoom(before: SavedProgram | undefined, { principal, isOperator }: SavedBy): Promise<void> {
    if (before !== undefined) return;
    const found = await all();
    if (found.length >= MOST_SAVED)
      throw fixable(
        "INPUT_INVALID",
        `There are ${MOST_SAVED} saved programs, and no more can be saved.`,
        "Remove some of them.",
        { field: "name" },
      );
    const own = found.filter(
      ({ status, savedBy, tenant }) => status === "proposed" && savedBy === principal.id && tenant === principal.tenant,
    );
    if (!isOperator && own.length >= MOST_PROPOSED)
      throw fixable(
        "INPUT_INVALID",
        `${MOST_PROPOSED} programs of yours wait to be accepted.`,
        "Let an operator accept or remove them first.",
        { field: "name" },
      );
  }
}

/** Returns true if the document was not altered since it was saved. */
function isWhole(program: SavedProgram): boolean {
  return digestOf(program) === program.digest;
}

/** Returns the problem of a stored document that was altered by other means. */
export function notWhole(name: string): string {
  return `The saved program ${name} is not the one that was saved: its digest differs.`;
}

/** An operator sees all programs of its tenant, or of every tenant if it has none. Other callers see their own. */
function maySee({ savedBy, tenant }: SavedProgram, { principal, isOperator }: SavedBy): boolean {
  if (isOperator && (principal.tenant === undefined || principal.tenant === tenant)) return true;
  return savedBy === principal.id && tenant === principal.tenant;
}

function isOwn({ owner }: Run, { principal, isOperator }: SavedBy): boolean {
  if (owner.id === principal.id && owner.tenant === principal.tenant) return true;
  return isOperator && (principal.tenant === undefined || principal.tenant === owner.tenant);
}

function checkReplace(before: SavedProgram, by: SavedBy): void {
  checkTenant(before, by);
  const isOwnProposal = before.status === "proposed" && before.savedBy === by.principal.id;
  if (by.isOperator || isOwnProposal) return;
  const problem = `There is already a saved program ${before.name}.`;
  throw fixable("TOOL_OWNED", problem, "Choose another name, or ask an operator.", {
    field: "name",
    value: before.name,
  });
}

function checkTenant({ name, tenant }: SavedProgram, { principal }: SavedBy): void {
  if (principal.tenant === undefined || principal.tenant === tenant) return;
  const problem = `The saved program ${name} does not belong to the tenant "${principal.tenant}".`;
  throw fixable("TOOL_OWNED", problem, "Choose another name.", { field: "name", value: name });
}

function notOperator({ principal }: SavedBy, action: string): Error {
  const problem = `"${principal.id}" may not ${action} a saved program: that needs the role "operator".`;
  return fixable("PERMISSION_DENIED", problem, "Ask an operator.");
}

function changedMeanwhile(name: string): Error {
  return fixable("STORE_FAILED", `The saved program ${name} was changed at the same time.`, "Retry.", {
    field: "name",
    value: name,
  });
}
