import { setImmediate as nextTurn } from "node:timers/promises";
import { messageOf } from "../../errors/show-value.ts";
import type { Clock } from "../../observe/clock.ts";
import type { Emit } from "../../observe/events.ts";
import { contentHash } from "../../tool/json/canonical-json.ts";
import { isUnlisted, type Tool, type ToolSource } from "../../tool/tool.ts";
import { STATE_LOST } from "../state-loss.ts";
import type { Changes } from "../../state/changes.port.ts";
import type { State } from "../../state/state.port.ts";
import { afterAccepting, afterRefusing, createAcceptanceWatch, refusalBehind, refuseOthers } from "./accept.ts";
import { hashOfTool } from "./definition.ts";
import { changedFields } from "./diff.ts";
import { anotherTool, notStarted, refused, unaccepted, unacceptedOf } from "./pin-messages.ts";
import {
  acceptedTool,
  afterSeeing,
  commandId,
  comparedOf,
  contentOfCommand,
  contentOfInstructions,
  contentOfTool,
  currentOf,
  instructionsId,
  type PinContent,
  type PinMode,
  type PinRecord,
  readRecord,
  stateOf,
  toConflict,
  toPin,
  withConfirmedHints,
} from "./pin-record.ts";
import { type ScanPin, withFindings } from "./pin-findings.ts";
import type { OfferedEnsemble, PinGuard, ReviewedEnsemble } from "./pins.ts";

export interface PinsParts {
  readonly state: State;
  readonly changes?: Changes;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly mode: PinMode;
  /** Lists an ensemble again after one of its items was accepted. */
  readonly onAccepted?: (ensemble: string) => Promise<void>;
  /** Returns the current tools with these ids from a shared catalog. Omitted without a shared catalog. */
  readonly held?: ((ids: readonly string[]) => Promise<readonly Tool[]>) | undefined;
  /** Scans the items that wait for acceptance, for the approver. Defaults to no scan. */
  readonly scan?: ScanPin;
}

const COMPARED_AT_ONCE = 200;

/** The most characters recorded of an unknown id. */
const MAX_ID = 100;

const PIN = "pin:";

/** The sources whose tools others write. */
const PINNED: ReadonlySet<ToolSource> = new Set<ToolSource>(["mcp", "openapi", "a2a"]);

/** The reason why calls are blocked: a pending change under the id, or an unreadable pin. */
interface Block {
  readonly ensemble: string;
  readonly id: string;
  /** The hash of the source's current version; omitted if it is unknown. */
  readonly hash?: string;
}

/** An item of a source, compared with its accepted version. */
interface ComparedItem {
  readonly id: string;
  readonly record?: PinRecord | undefined;
  /** The state of the item. Omitted if it could not be compared; `unread` then holds the error. */
  readonly found?: ReturnType<typeof stateOf>;
  readonly unread?: unknown;
  readonly before: Block | undefined;
}

/** Creates the pins over a state. Refuses everything that cannot be compared with its accepted version. */
export function createPins({ state, changes, clock, emit, mode, onAccepted, held, scan }: PinsParts): PinGuard {
  /** Keyed by tool id, or by `instructionsId` for all tools of an ensemble. Tools without an entry cost no lookup in the state. */
  const blocks = new Map<string, Block>();
  /** The hash of the definition that last passed here, by id. Only that definition may be called. */
  const passed = new Map<string, string>();
  /** Earlier reports, so that a repeated listing does not repeat them. */
  const reported = new Map<string, string>();
  const reportedWaiting = new Map<string, string>();
  /** Whether any item of an ensemble is accepted, as of its last listing. */
  const admitted = new Map<string, boolean>();
  const watch = createAcceptanceWatch({ state, changes, clock, listAgain: (ensemble) => onAccepted?.(ensemble) });

  async function read(id: string): Promise<{ readonly record: PinRecord; readonly version: number } | undefined> {
    const entry = await state.get(PIN + id);
    return entry && { record: readRecord(id, entry.value), version: entry.version };
  }

  /** Changes a record, based on the version that was read, so that concurrent changes do not overwrite each other. */
  async function change(
    id: string,
    to: (record: PinRecord | undefined) => PinRecord | Promise<PinRecord>,
  ): Promise<PinRecord> {
    for (;;) {
      const found = await read(id);
      const record = await to(found?.record);
      if (record === found?.record) return record;
      if (await state.set(PIN + id, record, { ifVersion: found?.version ?? "absent" })) return record;
    }
  }

  /** After a loss of state, earlier acceptances are unknown, so items are not accepted on first sight. */
  async function wasLost(): Promise<boolean> {
    return mode === "changes" && (await state.get(STATE_LOST)) !== undefined;
  }

  async function keep(id: string, content: PinContent, ensemble: string, alone = false): Promise<PinRecord> {
    return change(id, async (before) => {
      const how = before?.accepted === undefined && (await wasLost()) ? "all" : mode;
      return afterSeeing(before, content, { ensemble, mode: how, at: Math.round(clock.now()), alone });
    });
  }

  async function see(...seen: Parameters<typeof keep>): Promise<PinRecord> {
    const record = await keep(...seen);
    report(seen[0], record);
    return record;
  }

  /** Reports all new items together if at least one of them was not reported before. */
  function reportWaiting(ensemble: string, ids: readonly string[]): void {
    const news = ids.map((id) => `${id} ${reported.get(id)}`).join("\n");
    if (ids.length === 0 || reportedWaiting.get(ensemble) === news) return;
    reportedWaiting.set(ensemble, news);
    emit("pins-waiting", { ensemble, waiting: ids.length, message: unacceptedOf(ensemble, ids.length) });
  }

  function report(id: string, record: PinRecord): void {
    const { ensemble } = record;
    const found = stateOf(record, mode);
    if (found === "accepted") return;
    const news = `${found} ${currentOf(record).hash}`;
    if (reported.get(id) === news) return;
    reported.set(id, news);
    if (found === "changed") emit("tool-changed", { id, ensemble, fields: changedFields(...comparedOf(record)) });
    else emit("tool-rejected", { name: id, code: "PERMISSION_DENIED", message: unaccepted(id) });
  }

  function failed(ensemble: string, error: unknown): void {
    const message = `The tools of ${ensemble} cannot be compared with the accepted ones: ${messageOf(error)}`;
    emit("pins-failed", { ensemble, message });
  }

  /** Returns the tool to register now: the accepted version, which is the offered one unless a change is pending. */
  function asAccepted(tool: Tool, record: PinRecord): Tool | undefined {
    if (stateOf(record, mode) !== "accepted") return pinnedTool(tool, record);
    return record.accepted?.confirmed === true ? withConfirmedHints(tool) : tool;
  }

  /** Returns the accepted tool; undefined if it may not be registered, or belonged to another server. */
  function pinnedTool(tool: Tool, { accepted }: PinRecord): Tool | undefined {
    const pinned = accepted?.content.tool;
    return mode === "changes" && pinned?.ensemble === tool.ensemble ? pinned : undefined;
  }

  /** Returns the tool to register if the comparison or the write failed: the accepted version, if it can be read. */
  async function uncompared(tool: Tool): Promise<Tool | undefined> {
    try {
      const found = await read(tool.id);
      return found && pinnedTool(tool, found.record);
    } catch {
      return mode === "changes" ? tool : undefined;
    }
  }

  /** Compares one item. Blocks it as soon as it is found pending, without waiting for others. Applies `block` if it cannot be read. */
  async function compare(block: Block, find: () => Promise<PinRecord | undefined>): Promise<ComparedItem> {
    const { id, ensemble } = block;
    const before = blocks.get(id);
    try {
      const record = await find();
      const found = record === undefined ? "accepted" : stateOf(record, mode);
      // New instructions do not block tools.
      const blocked = found === "changed" || (found === "new" && id !== instructionsId(ensemble));
      if (record !== undefined && blocked) blocks.set(id, { ensemble, id, hash: currentOf(record).hash });
      return { id, record, found, before };
    } catch (unread) {
      blocks.set(id, block);
      return { id, unread, before };
    }
  }

  async function reviewTool(tool: Tool, ensemble: string): Promise<ComparedItem & { readonly tool: Tool | undefined }> {
    const content = contentOfTool(tool);
    const { id } = tool;
    const compared = await compare({ ensemble, id, hash: content.hash }, () => see(id, content, ensemble));
    const { record } = compared;
    const may = record === undefined ? await uncompared(tool) : asAccepted(tool, record);
    if (may === undefined) passed.delete(id);
    else passed.set(id, hashOfTool(may));
    return { ...compared, tool: may };
  }

  async function review({ ensemble, tools, instructions }: OfferedEnsemble): Promise<ReviewedEnsemble> {
    // Concurrent, so that a state in a file waits for the disk once instead of once per tool.
    const reviewed = await Promise.all(tools.map((tool) => reviewTool(tool, ensemble)));
    const id = instructionsId(ensemble);
    const guidance = await compare({ ensemble, id }, async () => {
      if (instructions === undefined) return (await read(id))?.record;
      return see(id, contentOfInstructions(instructions), ensemble, tools.length === 0);
    });
    const all: readonly ComparedItem[] = [...reviewed, guidance];
    const failure = all.find(({ unread }) => unread !== undefined);
    const unseen = all.filter(({ found }) => found === "new").map((each) => each.id);
    const waits = unseen.length > 0 || all.some(({ found }) => found === "changed");
    const known =
      reviewed.some(({ found }) => found === "accepted" || found === "changed") ||
      (guidance.found !== "new" && guidance.record?.accepted !== undefined && !isUnasked(guidance.record));
    if (failure !== undefined) failed(ensemble, failure.unread);
    reportWaiting(ensemble, unseen);
    admit(ensemble, known || (mode === "changes" && !waits && failure === undefined));

    // Tools that the source no longer offers stay blocked, because a call may already be on its way. Tools that a later listing blocked also stay
    // blocked.
    for (const each of all) {
      const settled = each.found === "accepted" || (each === guidance && each.found === "new");
      if (settled && blocks.get(each.id) === each.before) blocks.delete(each.id);
    }
    const standing = waits ? "waiting" : "settled";
    watch.follow(ensemble, failure === undefined ? standing : "unread");
    const served = guidance.record && passedOn(guidance.record);
    return {
      tools: reviewed.flatMap(({ tool }) => tool ?? []),
      ...(served !== undefined && { instructions: served }),
    };
  }

  function admit(ensemble: string, isKnown: boolean): void {
    const isNews = isKnown && admitted.get(ensemble) === false;
    admitted.set(ensemble, isKnown);
    if (isNews) emit("ensemble-accepted", { ensemble });
  }

  function passedOn(record: PinRecord): string | undefined {
    const { accepted } = record;
    const may = mode === "changes" || stateOf(record, mode) === "accepted";
    return may && accepted?.content.instructions !== "" ? accepted?.content.instructions : undefined;
  }

  /** Checks a block again: another process may have accepted the change meanwhile. */
  async function stillBlocked({ id, ensemble, hash }: Block, tool: Tool): Promise<string | undefined> {
    let record: PinRecord | undefined;
    let lost: boolean;
    try {
      record = (await read(id))?.record;
      lost = record === undefined && (await wasLost());
    } catch (error) {
      return `${tool.id} cannot be compared with its accepted definition, so it is not called: ${messageOf(error)}`;
    }
    const found = record === undefined ? "accepted" : stateOf(record, mode);
    if (found === "new") return unaccepted(id);
    if (record !== undefined && found === "changed") return refused(tool.id, id, record);
    void onAccepted?.(ensemble);
    if (lost) return unaccepted(id);
    // The accepted version must be the source's current one, and the one that the caller saw.
    const accepted = record?.accepted?.content.hash;
    if (accepted === hash && (id !== tool.id || accepted === hashOfTool(tool))) return undefined;
    return anotherTool(tool);
  }

  /** Returns the catalog's version of each tool that differs from its accepted definition. */
  async function conflicting(accepted: ReadonlyMap<string, Tool>): Promise<ReadonlyMap<string, Tool>> {
    const others = new Map<string, Tool>();
    const ids = held === undefined ? [] : [...accepted.keys()];
    for (let start = 0; start < ids.length; start += COMPARED_AT_ONCE) {
      if (start > 0) await nextTurn();
      for (const tool of (await held?.(ids.slice(start, start + COMPARED_AT_ONCE))) ?? [])
        // An entry can claim any hash, so the hash is computed.
        if (contentHash(tool) !== accepted.get(tool.id)?.contentHash) others.set(tool.id, tool);
    }
    return others;
  }

  async function firstRefusal(found: readonly Block[], tool: Tool): Promise<string | undefined> {
    for (const block of found) {
      const reason = await stillBlocked(block, tool);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }

  return {
    async review(offer) {
      const isPinned = offer.tools.every(({ source }) => PINNED.has(source));
      return isPinned ? review(offer) : offer;
    },

    refusal(tool) {
      if (!PINNED.has(tool.source)) return undefined;
      if (blocks.size > 0) {
        const found = [blocks.get(tool.id), blocks.get(instructionsId(tool.ensemble ?? ""))].filter(
          (block) => block !== undefined,
        );
        if (found.length > 0) return firstRefusal(found, tool);
      }
      const hash = passed.get(tool.id);
      return hash === undefined || hash === hashOfTool(tool) ? undefined : anotherTool(tool);
    },

    async mayStart(ensemble, command) {
      const [id, content] = [commandId(ensemble), contentOfCommand(command)];
      try {
        const record = await keep(id, content, ensemble);
        const { accepted } = record;
        // In the mode `all`, the caller reports that the server was not started.
        if (mode === "changes") report(id, record);
        const isAccepted = accepted?.by !== undefined && accepted.content.hash === content.hash;
        if (mode === "changes" || isAccepted) return undefined;
        watch.follow(ensemble, "waiting");
        return notStarted(ensemble, accepted?.by === undefined ? "it was not accepted yet" : "it changed");
      } catch (error) {
        failed(ensemble, error);
        return mode === "changes" ? undefined : notStarted(ensemble, `pins cannot be read: ${messageOf(error)}`);
      }
    },

    hides({ source, id, ensemble = "" }) {
      return PINNED.has(source) && isUnlisted(id) && !(admitted.get(ensemble) ?? mode === "changes");
    },

    async instructions(ensemble, offered) {
      try {
        const id = instructionsId(ensemble);
        const record = (await read(id))?.record ?? (await see(id, contentOfInstructions(offered ?? ""), ensemble));
        return passedOn(record);
      } catch (error) {
        failed(ensemble, error);
        return undefined;
      }
    },

    async list({ id: only, states, whole = false, findings = false } = {}) {
      const accepted = new Map<string, Tool>();
      const records = new Map<string, PinRecord>();
      // Only accepted items are compared with the catalog, which may be remote.
      const compares = states === undefined || states.includes("accepted") || states.includes("conflict");
      const pins = (await state.list(PIN)).flatMap(({ key, value }) => {
        const id = key.slice(PIN.length);
        if (only !== undefined && only !== id) return [];
        const record = readRecord(id, value);
        records.set(id, record);
        const tool = acceptedTool(record, mode);
        if (tool !== undefined && compares) accepted.set(id, tool);
        const isShown = record.waiting !== undefined || currentOf(record).instructions !== "";
        return isShown ? [toPin(id, record, mode, whole)] : [];
      });
      const others = await conflicting(accepted);
      const listed = pins
        .map((pin) => {
          const [tool, other] = [accepted.get(pin.id), others.get(pin.id)];
          return tool && other ? toConflict(pin, tool, other, whole) : pin;
        })
        .filter((pin) => states?.includes(pin.state) ?? true)
        .sort((one, other) => (one.id < other.id ? -1 : 1));
      return findings ? withFindings(listed, records, scan) : listed;
    },

    async accept(id, by, options = {}) {
      let previous: PinRecord | undefined;
      const record = await change(id, (before) => {
        previous = before;
        refuseOthers(id, by);
        return afterAccepting(id, before, { ...options, mode, by, at: Math.round(clock.now()) });
      }).catch((error: unknown) => {
        const because = refusalBehind(error);
        const tenant = by.tenant !== undefined && { tenant: by.tenant };
        if (because !== undefined) emit("pin-refused", { id: id.slice(0, MAX_ID), because, by: by.id, ...tenant });
        throw error;
      });
      await watch.announce();
      const { hash } = currentOf(record);
      const previousHash = previous?.accepted?.content.hash;
      emit("pin-accepted", { id, hash, ...(previousHash !== undefined && { previousHash }), by: by.id });
      await onAccepted?.(record.ensemble);
    },

    async refuse(id, by, options = {}) {
      refuseOthers(id, by);
      await change(id, (before) => afterRefusing(id, before, { ...options, mode, by }));
    },

    close: () => watch.close(),
  };
}

function isUnasked({ accepted }: PinRecord): boolean {
  return accepted?.by === undefined && accepted?.content.instructions === "";
}
