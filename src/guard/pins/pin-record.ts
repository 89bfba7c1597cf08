import { fixable } from "../../errors/arsenal-error.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { assembleTool, type Tool } from "../../tool/tool.ts";
import { type Definition, definitionOf, hashOf, hashOfTool } from "./definition.ts";
import { diffLines } from "./diff.ts";
import type { Pin } from "./pins.ts";

/** `changes` accepts items on first sight; `all` requires an operator to accept them. */
export type PinMode = "changes" | "all";

/** A tool, a server's instructions, or the command that starts the server. Complete, so that it can be shown and registered after a restart. */
export type PinContent = { readonly hash: string } & (
  | { readonly tool: Tool; readonly instructions?: never; readonly command?: never }
  | { readonly instructions: string; readonly tool?: never; readonly command?: never }
  | { readonly command: Definition; readonly tool?: never; readonly instructions?: never }
);

/** The stored record of one tool or one server's instructions: the accepted version, the pending one, or both. */
export type PinRecord = {
  readonly ensemble: string;
  /** The source's version before it returned to the accepted one. */
  readonly between?: PinContent;
  readonly since: number;
  /** The person who rejected the current version. */
  readonly refusedBy?: string;
} & (
  | {
      /** `by` is omitted if the item was accepted on first sight. */
      readonly accepted: { readonly content: PinContent; readonly by?: string; readonly confirmed?: true };
      /** The source's current version, if it waits for an operator. It stays pending even if the source reverts the change. */
      readonly waiting?: PinContent;
    }
  | { readonly accepted?: never; readonly waiting: PinContent }
);

export function contentOfTool(tool: Tool): PinContent {
  return { hash: hashOfTool(tool), tool };
}

export function contentOfInstructions(instructions: string): PinContent {
  return { hash: hashOf({ instructions }), instructions };
}

export function contentOfCommand(command: Definition): PinContent {
  return { hash: hashOf(command), command };
}

/** The id of a server's command in lists. */
export function commandId(ensemble: string): string {
  return `${ensemble}#command`;
}

/** The id of a server's instructions in lists. */
export function instructionsId(ensemble: string): string {
  return `${ensemble}#instructions`;
}

/** Returns the record after a source's offer. Returns the same record if nothing changed. */
export function afterSeeing(
  record: PinRecord | undefined,
  content: PinContent,
  sight: {
    readonly ensemble: string;
    readonly mode: PinMode;
    readonly at: number;
    /** True if the source offers nothing else. Then even empty instructions wait, because accepting them accepts the source. */
    readonly alone?: boolean;
  },
): PinRecord {
  const { ensemble, mode, at, alone = false } = sight;
  if (record?.accepted === undefined) {
    // Empty instructions need no review, unless the server has no tools either.
    if (mode === "changes" || (content.instructions === "" && !alone))
      return { ensemble, accepted: { content }, since: at };
    return record?.waiting.hash === content.hash ? record : { ensemble, waiting: content, since: at };
  }
  const { by, content: earlier } = record.accepted;
  const wasNothing = by === undefined && earlier.instructions === "";
  if (mode === "all" && alone && wasNothing) return { ensemble, waiting: content, since: at };
  if (currentOf(record).hash === content.hash) return withSettings(record, content);
  const { accepted, waiting } = record;
  const between = content.hash === accepted.content.hash ? waiting : undefined;
  return { ensemble, accepted, waiting: content, ...(between && { between }), since: at };
}

/** Returns the record with this process's tool. The source's part is equal, but the operator's settings, such as capabilities, may differ. */
function withSettings(record: PinRecord, content: PinContent): PinRecord {
  const { accepted } = record;
  const isSame = accepted?.content.tool?.contentHash === content.tool?.contentHash;
  return accepted === undefined || record.waiting !== undefined || isSame
    ? record
    : { ...record, accepted: { ...accepted, content } };
}

/** Returns the accepted tool to register; undefined if a change is pending or the record does not hold a tool. */
export function acceptedTool(record: PinRecord, mode: PinMode): Tool | undefined {
  const tool = stateOf(record, mode) === "accepted" ? record.accepted?.content.tool : undefined;
  return tool && record.accepted?.confirmed === true ? withConfirmedHints(tool) : tool;
}

export function withConfirmedHints(tool: Tool): Tool {
  if (tool.annotations.confirmed) return tool;
  const { id: _id, contentHash: _hash, createdAt, ...fields } = tool;
  return assembleTool({ ...fields, annotations: Object.freeze({ ...tool.annotations, confirmed: true }) }, createdAt);
}

/** A pin whose tool has a different definition in the shared catalog. */
export function toConflict(pin: Pin, accepted: Tool, held: Tool, whole: boolean): Pin {
  const diff = diffLines(fieldsOf(accepted), fieldsOf(held), { whole });
  return { ...pin, state: "conflict", diff: ["(in the catalog, written by another process; not used)", ...diff] };
}

function fieldsOf(tool: Tool): Definition {
  const { id: _id, createdAt: _time, contentHash: _hash, ownedByCode: _owner, ...fields } = tool;
  return fields;
}

/** Returns the state for an operator. In the mode `all`, an item that was accepted on first sight counts as not accepted. */
export function stateOf({ accepted, waiting }: PinRecord, mode: PinMode): Exclude<Pin["state"], "conflict"> {
  const isLookedAt = mode === "changes" || accepted?.by !== undefined || accepted?.content.instructions === "";
  if (accepted === undefined || !isLookedAt) return "new";
  return waiting === undefined ? "accepted" : "changed";
}

/** The source's current version, as last seen. */
export function currentOf(record: PinRecord): PinContent {
  return record.accepted === undefined ? record.waiting : (record.waiting ?? record.accepted.content);
}

export function toPin(id: string, record: PinRecord, mode: PinMode, whole: boolean): Pin {
  const { ensemble, since, accepted, refusedBy } = record;
  const state = stateOf(record, mode);
  const { hash } = currentOf(record);
  const by = state === "accepted" && accepted?.by !== undefined && { acceptedBy: accepted.by };
  const refused = state !== "accepted" && refusedBy !== undefined && { refusedBy };
  return { id, ensemble, state, hash, diff: differences(record, state, whole), seenAt: since, ...by, ...refused };
}

/** Lists all fields of a new item, or the differences of a changed item from its accepted version. */
function differences(record: PinRecord, state: ReturnType<typeof stateOf>, whole: boolean): readonly string[] {
  if (state === "accepted") return [];
  if (state === "new") return diffLines({}, toDefinition(currentOf(record)), { whole });
  const lines = diffLines(...comparedOf(record), { whole });
  return record.between === undefined ? lines : [...lines, "(it changed back to the accepted version)"];
}

/** The accepted version and the one that differs from it. */
export function comparedOf(record: PinRecord): readonly [before: Definition, after: Definition] {
  const { accepted, between } = record;
  return [accepted === undefined ? {} : toDefinition(accepted.content), toDefinition(between ?? currentOf(record))];
}

function toDefinition(content: PinContent): Definition {
  if (content.command !== undefined) return content.command;
  return content.tool === undefined ? { instructions: content.instructions } : definitionOf(content.tool);
}

/** Parses a stored record. Throws if it is invalid, because nothing could be compared with it. */
export function readRecord(id: string, value: unknown): PinRecord {
  const contents = isPlainObject(value)
    ? [isPlainObject(value["accepted"]) ? value["accepted"]["content"] : undefined, value["waiting"], value["between"]]
    : [];
  const present = contents.filter((content) => content !== undefined);
  if (present.length > 0 && present.every(isContent)) return value as unknown as PinRecord;
  const fix = `Remove pin:${id} from the state, which makes it new again.`;
  throw fixable("STORE_FAILED", `The pin of ${id} cannot be read.`, fix, { field: id });
}

function isContent(value: unknown): boolean {
  if (!isPlainObject(value) || typeof value["hash"] !== "string") return false;
  const { tool, instructions, command } = value;
  if (typeof instructions === "string" || isPlainObject(command)) return true;
  return isPlainObject(tool) && typeof tool["id"] === "string";
}
