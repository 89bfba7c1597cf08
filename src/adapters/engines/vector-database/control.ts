import { randomInt } from "node:crypto";
import type { Clock } from "../../../observe/clock.ts";
import type { Space } from "./driver.ts";
import { plain, recordId } from "./records.ts";
import { everyRecord, type Session } from "./session.ts";

/**
 * The state that all handles on one database share without transactions. Each handle owns one record, its head, with the last revision it wrote. A
 * revision is a time, so it grows whichever process writes. Its low bits are the handle's number, so revisions are unique.
 */
export interface Control {
  readonly revision: number;
  /** Changes whenever any handle changes tools. */
  readonly toolsKey: string;
  /** Changes whenever any handle changes vectors. */
  readonly vectorsKey: string;
  readonly models: ReadonlyMap<string, Model>;
  readonly heads: readonly Head[];
}

export interface Model {
  readonly name: string;
  readonly dimension: number;
  readonly space: Space;
  /** The creation time. It changes if all vectors are removed and added again. */
  readonly stamp: number;
}

interface Head {
  readonly id: string;
  readonly writer: number;
  readonly revision: number;
  readonly vectors: number;
}

/** The number of revisions within one millisecond, one for each handle. */
const WRITERS = 4096;
/** 2025-01-01. Revisions are exact as numbers until 2094. */
const EPOCH_MS = Date.UTC(2025, 0);

/** Converts a duration to a difference of revisions. */
export function spanOf(ms: number): number {
  return ms * WRITERS;
}

/** Returns the revision of the current time, for comparisons. */
export function revisionAt(clock: Clock): number {
  return Math.max(Math.floor(clock.now() - EPOCH_MS), 1) * WRITERS;
}

export type Writer = ReturnType<typeof createWriter>;

/** Creates a writer with a number that none of these heads uses. */
export function createWriter(heads: readonly Head[]) {
  const taken = new Set(heads.map(({ writer }) => writer));
  let number = randomInt(WRITERS);
  while (taken.has(number) && taken.size < WRITERS / 2) number = randomInt(WRITERS);
  const id = recordId(`head ${number} ${randomInt(2 ** 47)}`);
  let [revision, vectors, last] = [0, 0, 0];
  return {
    /** Returns a revision above every known one. */
    next(control: Control, clock: Clock): number {
      const known = Math.max(control.revision, last);
      last = Math.max(revisionAt(clock), Math.floor(known / WRITERS) * WRITERS + WRITERS) + number;
      return last;
    },
    async announce(session: Session, written: { revision?: number; vectors?: number }): Promise<void> {
      revision = written.revision ?? revision;
      vectors = written.vectors ?? vectors;
      const text = JSON.stringify({ writer: number, revision, vectors });
      await session.upsert(session.tools, [plain(id, { kind: "head" }, Math.max(revision, vectors), text)]);
    },
  };
}

export async function readControl(session: Session): Promise<Control> {
  const { tools } = session;
  const heads: Head[] = [];
  const models = new Map<string, Model>();
  const condition = { field: "kind", in: ["head", "model"] } as const;
  for await (const { id, fields, revision, text = "{}" } of everyRecord(session, tools, condition, ["text"])) {
    if (fields["kind"] === "head") heads.push({ id, ...(JSON.parse(text) as Omit<Head, "id">) });
    else {
      const { name, dimension } = JSON.parse(text) as { name: string; dimension: number };
      models.set(name, { name, dimension, space: vectorSpace(tools, name, dimension), stamp: revision });
    }
  }
  heads.sort((a, b) => (a.id < b.id ? -1 : 1));
  const stamps = [...models.values()].map(({ stamp }) => stamp).sort((a, b) => a - b);
  return {
    revision: Math.max(0, ...heads.map(({ revision }) => revision)),
    toolsKey: heads.flatMap(({ revision }) => (revision > 0 ? [revision] : [])).join(),
    vectorsKey: [...heads.map(({ vectors }) => vectors), ...stamps].join(),
    models,
    heads,
  };
}

export function vectorSpace(tools: Space, model: string, dimension: number): Space {
  return { name: `${tools.name}_${modelRecordId(model).slice(0, 8)}`, dimension };
}

export async function announceModel(
  session: Session,
  { name, dimension, stamp }: Pick<Model, "name" | "dimension" | "stamp">,
): Promise<void> {
  const id = modelRecordId(name);
  const record = plain(id, { kind: "model", key: id }, stamp, JSON.stringify({ name, dimension }));
  await session.upsert(session.tools, [record]);
}

export function modelRecordId(model: string): string {
  return recordId(`model ${model}`);
}
