import { createHash } from "node:crypto";

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** Texts as they are streamed: a few characters at a time. */
export function pieces(whole: string): string[] {
  const characters = [...whole];
  return Array.from({ length: Math.ceil(characters.length / 6) }, (_, at) =>
    characters.slice(at * 6, at * 6 + 6).join(""),
  );
}

/** What only the double can make, and recognises when it comes back. */
export function sign(content: string): string {
  return createHash("sha256").update(`a double's secret: ${content}`).digest("base64");
}

/** One server-sent event. */
export function sse(data: object, event?: string): string {
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
}

export function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}

/** An object schema that allows no other members. */
export function closed(properties: object, required: readonly string[]): object {
  return { type: "object", properties, required, additionalProperties: false };
}

/** The name of a tool, as most APIs take it. */
export const NAME = { type: "string", pattern: "^[a-zA-Z0-9_-]{1,64}$" };
