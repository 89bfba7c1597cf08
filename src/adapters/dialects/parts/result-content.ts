import { formatResult } from "../../../execute/results/format-result.ts";
import { canonicalJson } from "../../../tool/json/canonical-json.ts";
import { asRecord } from "../../../tool/json-schema.ts";
import { writeData } from "../../../tool/schema/plain-data.ts";
import type { AnsweredCall } from "../../../transcode/dialect.port.ts";
import { writeForeign } from "../../../base/json/json-text.ts";

/** The content of a result for a model, before conversion to a provider's blocks. */
export interface ResultContent {
  readonly isError: boolean;
  /** At least one. */
  readonly parts: readonly ResultPart[];
  /** The content as data, if the tool returned data. Its JSON is among the parts. */
  readonly structured?: unknown;
}

export type ResultPart = { readonly kind: "text"; readonly text: string } | MediaPart;

export interface MediaPart {
  readonly kind: "media";
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
  readonly name?: string;
}

/** Returns the content of a result. Keeps the blocks of an MCP tool's result; anything else becomes text or JSON. */
export function contentOf({ read, result }: AnsweredCall): ResultContent {
  if (result.status !== "success")
    return { isError: true, parts: [text(read.problem ?? formatResult(result, read.call))] };
  const value = result.result;
  if (isMcpResult(value)) return fromMcp(value);
  if (typeof value === "string" || value === undefined) return { isError: false, parts: [text(value || NOTHING)] };
  const written = writeData(value);
  if (written === undefined) return { isError: false, parts: [text(String(value))] };
  return { isError: false, parts: [text(written.text)], structured: written.data };
}

/** Returns all parts as one text, for APIs without media. Media become placeholders. */
export function textOf({ parts }: Pick<ResultContent, "parts">): string {
  return parts.map((part) => (part.kind === "text" ? part.text : unshown(part))).join("\n\n");
}

/** Returns one text, or a provider's blocks if the parts contain media. */
export function textOrBlocks<Block>(content: ResultContent, toBlock: (part: ResultPart) => Block): string | Block[] {
  return content.parts.some(({ kind }) => kind === "media") ? content.parts.map(toBlock) : textOf(content);
}

/** Returns the placeholder for media that an API does not support. */
export function unshown({ mimeType, data, name }: MediaPart): string {
  const size = Math.floor((data.length * 3) / 4);
  return `[${name === undefined ? "" : `${name}: `}${mimeType}, ${size} bytes, cannot be shown here]`;
}

/** True if the data is the whole result. Structured data next to other content is not repeated. */
export function isPureData({ parts, structured }: ResultContent): boolean {
  return structured !== undefined && parts.length === 1 && parts[0]?.kind === "text";
}

/** Sent instead of an empty result, which models and APIs handle badly. */
const NOTHING = "(nothing)";

interface McpResult {
  readonly content: readonly Readonly<Record<string, unknown>>[];
  readonly structuredContent?: unknown;
  readonly isError?: unknown;
}

function isMcpResult(value: unknown): value is McpResult {
  const { content } = asRecord(value);
  return Array.isArray(content) && content.every((block) => typeof asRecord(block)["type"] === "string");
}

function fromMcp({ content, structuredContent, isError }: McpResult): ResultContent {
  const parts = content.map(toPart);
  const hasData = structuredContent !== undefined && structuredContent !== null;
  if (hasData && !parts.some((part) => part.kind === "text" && isJsonOf(part.text, structuredContent)))
    parts.push(text(writeForeign(structuredContent) ?? NOTHING));
  if (parts.length === 0) parts.push(text(NOTHING));
  return { isError: isError === true, parts, ...(hasData && { structured: structuredContent }) };
}

function toPart(block: Readonly<Record<string, unknown>>): ResultPart {
  const { type, data, mimeType, uri, name } = block;
  const resource = type === "resource" ? asRecord(block["resource"]) : {};
  if (type === "text" && typeof block["text"] === "string") return text(block["text"] || NOTHING);
  if ((type === "image" || type === "audio") && typeof data === "string") return media(data, mimeType);
  if (type === "resource_link" && typeof uri === "string")
    return text(typeof name === "string" ? `${name}: ${uri}` : uri);
  if (typeof resource["text"] === "string") return text(`${String(resource["uri"] ?? "")}\n${resource["text"]}`.trim());
  if (typeof resource["blob"] === "string") return media(resource["blob"], resource["mimeType"], resource["uri"]);
  return text(writeForeign(block) ?? NOTHING);
}

function text(content: string): ResultPart {
  return { kind: "text", text: content };
}

function media(data: string, type: unknown, name?: unknown): MediaPart {
  const mimeType = typeof type === "string" ? type : "application/octet-stream";
  return { kind: "media", mimeType, data, ...(typeof name === "string" && { name }) };
}

function isJsonOf(json: string, value: unknown): boolean {
  if (!/^\s*[[{]/.test(json)) return false;
  try {
    return canonicalJson(JSON.parse(json)) === canonicalJson(value);
  } catch {
    return false;
  }
}
