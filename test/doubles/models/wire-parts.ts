import { createHash } from "node:crypto";

type Json = Readonly<Record<string, unknown>>;

/** Texts as they are streamed: a few characters at a time. */
export function pieces(text: string): string[] {
  const characters = [...text];
  return Array.from({ length: Math.ceil(characters.length / 6) }, (_, at) =>
    characters.slice(at * 6, at * 6 + 6).join(""),
  );
}

/** What only the double can make, and recognises when it comes back. */
export function sign(text: string): string {
  return createHash("sha256").update(`a double's secret: ${text}`).digest("base64");
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
