import type { ListedState, State } from "../../state/state.port.ts";
import { nodeCrypto, sha256 } from "../../base/crypto.ts";
import type { Holder } from "../../base/shares.ts";
import type { PendingApproval } from "../aegis.ts";
import { type ApprovalRecord, MAX_ARGUMENT_BYTES, type OpenApproval } from "./approval-record.ts";

/** A small document for each approval, so that all can be listed at once. */
const ENTRY = "approval-entry:";
/** The arguments of an open approval, under the same id. */
const ARGUMENTS = "approval-arguments:";
/** Maps the hash of an approval to its id, so that a repeated call does not request another. */
const ASKED = "approval-asked:";
/** Approvals of releases up to 0.1: one document, including its arguments. */
const FORMER = "approval:";

const PAGE = 500;

const OWNER_DIGITS = 10;

type FormerRecord = ApprovalRecord & { readonly shown?: PendingApproval };

/** A stored approval, and the version that a change to it names. */
export interface KeptApproval {
  readonly id: string;
  readonly record: ApprovalRecord;
  readonly version: number;
}

/** The storage of approvals. `dropped` is called with an approval of an earlier release that is too large to keep. */
export function createApprovalStore(state: State, timeoutMs: number, dropped: (approval: OpenApproval) => void) {
  async function write(id: string, record: ApprovalRecord, ifVersion: number | "absent", now: number) {
    // The record outlives its expiry, so that a late caller gets the outcome.
    const until = record.open ? record.shown.expiresAt : now;
    return state.set(keyOf(id), record, { ifVersion, expiresAt: until + timeoutMs });
  }

  /** Migrates an approval of an earlier release. It is removed first, so that it cannot be used in both formats. */
  async function adopt({ key, value, version }: ListedState, now: number): Promise<void> {
    if (!(await state.delete(key, { ifVersion: version }))) return;
    const id = key.slice(FORMER.length);
    const record = value as FormerRecord;
    if (!record.open) return void (await write(id, record, "absent", now));
    const { arguments: args, ...shown } = record.shown as PendingApproval;
    const bytes = sizeOf(args);
    const approval: OpenApproval = { ...record, shown, bytes };
    if (bytes > MAX_ARGUMENT_BYTES) return dropped(approval);
    await writeArguments(approval, args);
    await write(id, approval, "absent", now);
  }

  async function writeArguments(
    { shown: { id, requestedAt } }: OpenApproval,
    args: PendingApproval["arguments"],
  ): Promise<void> {
    // The arguments must outlive two waits: for the answer and for the use.
    await state.set(ARGUMENTS + id, args, { expiresAt: requestedAt + 2 * timeoutMs });
  }

  const removeArguments = (id: string): Promise<boolean> => state.delete(ARGUMENTS + id);

  return {
    write,
    writeArguments,
    removeArguments,

    async read(id: string, now: number): Promise<KeptApproval | undefined> {
      let entry = await state.get(keyOf(id));
      if (entry === undefined) {
        const former = await state.get(FORMER + id);
        if (former === undefined) return undefined;
        await adopt({ ...former, key: FORMER + id }, now);
        entry = await state.get(keyOf(id));
      }
      return entry && { id, record: entry.value as ApprovalRecord, version: entry.version };
    },

    /** Lists every approval, or the approvals of one caller. May include another caller's approvals if their hashes have the same digits. */
    async list(now: number, owner?: Holder): Promise<readonly KeptApproval[]> {
      // Loads one at a time, because their arguments may have any size.
      if (owner === undefined)
        for (let former = await first(state); former !== undefined; former = await first(state))
          await adopt(former, now);
      const prefix = ENTRY + (owner === undefined ? "" : ownerDigits(owner));
      const found: KeptApproval[] = [];
      for (let after = ""; ;) {
        const page = await state.list(prefix, { after, limit: PAGE });
        for (const { key, value, version } of page)
          found.push({ id: idOf(key), record: value as ApprovalRecord, version });
        if (page.length < PAGE) return found;
        after = page.at(-1)?.key ?? "";
      }
    },

    async remove({ id, version }: Pick<KeptApproval, "id" | "version">): Promise<boolean> {
      if (!(await state.delete(keyOf(id), { ifVersion: version }))) return false;
      await removeArguments(id);
      return true;
    },

    async arguments(id: string): Promise<PendingApproval["arguments"] | undefined> {
      return (await state.get(ARGUMENTS + id))?.value as PendingApproval["arguments"] | undefined;
    },

    /** The id of the approval that an earlier identical call requested. */
    async asked(binding: string): Promise<{ readonly id: string; readonly version: number } | undefined> {
      const entry = await state.get(ASKED + binding);
      return entry && { id: String(entry.value), version: entry.version };
    },

    /** Returns false if an identical concurrent call was first. */
    claim({ binding, shown: { id, requestedAt } }: OpenApproval, ifVersion: number | "absent"): Promise<boolean> {
      return state.set(ASKED + binding, id, { ifVersion, expiresAt: requestedAt + 2 * timeoutMs });
    },

    /** Removes the mapping from a call to an approval that has ended. */
    async forgetAsked({ binding, shown: { id } }: OpenApproval): Promise<void> {
      const asked = await state.get(ASKED + binding);
      if (asked?.value === id) await state.delete(ASKED + binding, { ifVersion: asked.version });
    },
  };
}

/** The size of arguments as JSON, in bytes. */
export function sizeOf(args: PendingApproval["arguments"]): number {
  return Buffer.byteLength(JSON.stringify(args));
}

/**
 * Creates an id. It begins with random digits, which people compare, and ends with digits for the caller. Hexadecimal, because a command line would
 * parse a leading dash as an option.
 */
export function newId(owner: Holder): string {
  return nodeCrypto().randomBytes(11).toString("hex") + ownerDigits(owner);
}

function ownerDigits({ tenant = null, id }: { readonly id: string; readonly tenant?: string | undefined | null }) {
  return sha256(JSON.stringify([tenant, id])).slice(0, OWNER_DIGITS);
}

/** The key of an approval; one caller's approvals are adjacent. */
function keyOf(id: string): string {
  return `${ENTRY}${id.slice(-OWNER_DIGITS)}:${id.slice(0, -OWNER_DIGITS)}`;
}

function idOf(key: string): string {
  const [owner = "", random = ""] = key.slice(ENTRY.length).split(":", 2);
  return random + owner;
}

async function first(state: State): Promise<ListedState | undefined> {
  return (await state.list(FORMER, { limit: 1 }))[0];
}
