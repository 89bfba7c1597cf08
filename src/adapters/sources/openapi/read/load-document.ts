import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { type ArsenalError, fixable, isArsenalError } from "../../../../errors/arsenal-error.ts";
import { messageOf, showValue } from "../../../../errors/show-value.ts";
import type { Egress } from "../../../../guard/egress/egress.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import type { Problem } from "./operations.ts";
import type { JsonObject } from "./references.ts";
import { upgradeSwagger } from "./swagger.ts";

/** An OpenAPI document, upgraded to version 3.1 or later. */
export interface LoadedDocument {
  readonly root: JsonObject;
  /** The address of the document. Omitted if it came from a file or an object. */
  readonly url?: string;
  /** Operations that could not be upgraded. */
  readonly problems: readonly Problem[];
}

interface LoadParts {
  readonly egress: Egress;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Reads a document and upgrades it to version 3.1. Throws CONFIG_INVALID if it is not an OpenAPI document. */
export async function loadDocument(document: string | object, parts: LoadParts): Promise<LoadedDocument> {
  parts.signal.throwIfAborted();
  if (typeof document !== "string") return toCurrent(copyOf(document), "The document");
  if (!/^https?:/i.test(document)) return toCurrent(await parse(await readText(document, parts), document), document);
  const fetched = await fetchText(document, parts);
  return { ...(await toCurrent(await parse(fetched.text, document), document)), url: fetched.url };
}

async function fetchText(address: string, { egress, maxBytes, signal }: LoadParts) {
  const shown = address.replace(/[?#].*$/, "");
  const headers = { accept: "application/json, application/yaml, */*;q=0.5", "user-agent": "toolarsenal" };
  // Only this address is trusted. The operator did not write the addresses that it redirects to.
  const { status, body, url } = await egress.request(address, { headers, signal, maxBytes, trusted: true });
  if (status >= 300) {
    body.destroy();
    throw unusable(shown, `the server answered HTTP ${status}`, "Check the address.");
  }
  try {
    return { text: await text(body), url };
  } catch (cause) {
    if (isArsenalError(cause)) throw unusable(shown, `it has more than ${maxBytes} bytes`, "Raise maxDocumentBytes.");
    throw cause;
  }
}

async function readText(path: string, { maxBytes, signal }: LoadParts): Promise<string> {
  const file = await open(path.startsWith("file:") ? fileURLToPath(path) : resolve(path)).catch((cause: unknown) => {
    throw unusable(path, "it cannot be read", "Check the path.", cause);
  });
  try {
    const { size } = await file.stat();
    if (size > maxBytes) throw unusable(path, `it has ${size} bytes`, "Raise maxDocumentBytes.");
    return await file.readFile({ encoding: "utf8", signal });
  } finally {
    await file.close();
  }
}

async function parse(written: string, shown: string): Promise<unknown> {
  // Some editors write a byte order mark, which JSON does not allow.
  const source = written.replace(/^\uFEFF/, "");
  let jsonError: unknown;
  try {
    if (/^\s*\{/.test(source)) return JSON.parse(source) as unknown;
  } catch (cause) {
    // YAML may also start with a brace.
    jsonError = cause;
  }
  const { parse: parseYaml } = await import("yaml");
  try {
    return parseYaml(source, { merge: true, logLevel: "error" }) as unknown;
  } catch (yamlError) {
    const cause = jsonError ?? yamlError;
    throw unusable(shown, `it is neither JSON nor YAML: ${messageOf(cause).split("\n")[0]}`, "Fix it there.", cause);
  }
}

/** Returns a copy, because the upgrade changes its argument. */
function copyOf(document: object): unknown {
  try {
    return JSON.parse(JSON.stringify(document)) as unknown;
  } catch (cause) {
    const fix = "Pass the original document, with its $refs unresolved.";
    throw unusable("The document", "it cannot be written as JSON", fix, cause);
  }
}

async function toCurrent(given: unknown, shown: string): Promise<LoadedDocument> {
  if (!isPlainObject(given)) throw unusable(shown, `it is ${showValue(given)}`, "Give an OpenAPI document.");
  const version = versionOf(given);
  if (version === undefined) {
    const written = showValue(given["openapi"] ?? given["swagger"]);
    const fix = "Give a document of version 2.0, 3.0, 3.1 or 3.2.";
    throw unusable(shown, `it has neither openapi: 3 nor swagger: 2.0, but ${written}`, fix);
  }
  // An unquoted version is a number in YAML.
  const isSwagger = version === "2.0";
  const document = isSwagger ? { ...given, swagger: version } : { ...given, openapi: version };
  const { upgrade } = await import("@scalar/openapi-upgrader");
  const toLatest = (each: Record<string, unknown>): JsonObject => upgrade(each, "3.1") as unknown as JsonObject;
  try {
    return isSwagger ? upgradeSwagger(document, toLatest) : { root: toLatest(document), problems: [] };
  } catch (cause) {
    const why =
      cause instanceof RangeError ? "it is nested too deep" : `it cannot be upgraded to 3.1: ${messageOf(cause)}`;
    throw unusable(shown, why, "Fix the document.", cause);
  }
}

function versionOf({ openapi, swagger }: Record<string, unknown>): string | undefined {
  if (swagger === 2 || swagger === "2.0" || swagger === "2") return "2.0";
  const version = typeof openapi === "number" ? openapi.toFixed(1) : openapi;
  return typeof version === "string" && /^3\.\d/.test(version) ? version : undefined;
}

function unusable(shown: string, why: string, fix: string, cause?: unknown): ArsenalError {
  const problem = `${shown} cannot be used as an OpenAPI document: ${why}.`;
  return fixable("CONFIG_INVALID", problem, fix, { field: "document", cause });
}
