import { divide } from "../../../../tool/normalise/complete-description.ts";
import type { SourceDraft } from "../../../../tool/draft.ts";
import { asTexts, isPlainObject } from "../../../../tool/json-schema.ts";
import { LIMITS } from "../../../../tool/limits.ts";
import type { Annotations, Capability } from "../../../../tool/tool.ts";
import { writeArguments } from "./arguments.ts";
import { fitSchema, type WriteRoot } from "./fit-schema.ts";
import type { ReadOperation } from "../read/read-document.ts";
import { plainText } from "./plain-text.ts";
import { broken, type References } from "../read/references.ts";
import type { OpenApiSettings } from "../settings.ts";

/** Reserved for what registration adds to a draft: ids, hashes, defaults. */
const REGISTERED_BYTES = 1200;
/** Limits the schema of the response, because it only describes. */
const MAX_RETURNS_BYTES = 8192;
const MAX_TOOL_BYTES = 32_768;

/** Returns a draft of the tool that fits into its byte limit, and the references to other documents that it lacks. */
export function toDraft(
  read: ReadOperation,
  parts: {
    readonly references: References;
    readonly settings: OpenApiSettings;
    /** The address of the document. */
    readonly sourceUri: string | undefined;
  },
): { readonly draft: SourceDraft; readonly external: readonly string[] } {
  const { references, settings, sourceUri } = parts;
  const { maxToolBytes = MAX_TOOL_BYTES, name, namespace = name } = settings;
  const { definition, method, sourceName } = read;
  const bare: SourceDraft = {
    name: sourceName,
    sourceName,
    namespace,
    source: "openapi",
    ...(sourceUri !== undefined && { sourceUri }),
    ...toDescriptions(definition),
    tags: asTexts(definition["tags"]),
    capabilities: toCapabilities(read, settings),
    annotations: toAnnotations(method),
    deprecated: definition["deprecated"] === true,
  };
  const meta = toMeta(read);
  const left = maxToolBytes - REGISTERED_BYTES - bytesOf({ ...bare, sourceMeta: { openapi: meta } });
  const parameters = fitSchema((writer) => writeArguments(read.arguments, writer), references, {
    direction: "request",
    maxBytes: left,
  });
  if (parameters === undefined)
    throw broken(`its tool needs more than ${maxToolBytes} bytes, even when it is shortened`);
  const maxBytes = Math.min(MAX_RETURNS_BYTES, left - bytesOf(parameters.schema));
  const hasReturns = read.returns !== undefined;
  const returns = hasReturns
    ? fitSchema(returnsOf(read, references), references, { direction: "answer", maxBytes })
    : undefined;
  const shortened = parameters.shortened || (hasReturns && returns?.shortened !== false);
  return {
    draft: {
      ...bare,
      parameters: parameters.schema,
      ...(returns && { returns: returns.schema }),
      sourceMeta: { openapi: shortened ? { ...meta, shortened } : meta },
    },
    external: [...new Set([...parameters.external, ...(returns?.external ?? [])])],
  };
}

/** Resolves a reference at the top of the response's schema, because clients read the type there. */
function returnsOf({ returns }: ReadOperation, references: References): WriteRoot {
  const reference = isPlainObject(returns) ? returns["$ref"] : undefined;
  const target = typeof reference === "string" ? references.lookUp(reference) : undefined;
  const schema = isPlainObject(target) ? target : returns;
  return (writer) => writer.write(schema, { depth: 0, required: true, nesting: 0 });
}

/** Returns the position of each argument in the operation's request. */
function toMeta(read: ReadOperation): Readonly<Record<string, unknown>> {
  const { method, path, definition, security } = read;
  const { list, body } = read.arguments;
  const { operationId } = definition;
  const places = list.map(({ argument, in: place, name }) => [argument, { in: place, ...(name !== "" && { name }) }]);
  return {
    method,
    path,
    ...(typeof operationId === "string" && { operationId }),
    arguments: Object.fromEntries(places),
    ...(body && { contentType: body.contentType }),
    // Server and credentials are pinned with the tool, like its name.
    ...serverOf(read),
    ...(security.length > 0 && { security }),
  };
}

/** A missing server is reported when the tool is called. */
function serverOf({ server }: ReadOperation): { readonly server?: string } {
  try {
    return { server: server().base };
  } catch {
    return {};
  }
}

/** The summary becomes the short description, and the description the long one. Text that is too long for a field continues in the next. */
function toDescriptions({ summary, description }: ReadOperation["definition"]): SourceDraft {
  const short = typeof summary === "string" ? plainText(summary).trim() : "";
  const long = typeof description === "string" ? plainText(description).trim() : "";
  const whole = long.startsWith(short) ? long : long === "" ? short : `${short.replace(/[.\s]+$/, "")}.\n\n${long}`;
  const { head, tail } = divide(whole, LIMITS.descriptionMax);
  return {
    ...(short !== "" && { title: divide(short, 200).head }),
    description: head === "" ? null : head,
    ...(tail !== "" && { extendedDescription: divide(tail, LIMITS.extendedDescriptionMax).head }),
  };
}

const READS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"]);

function toCapabilities({ method, arguments: { list } }: ReadOperation, settings: OpenApiSettings): Capability[] {
  const changes = method === "DELETE" ? "delete_data" : "write_data";
  const readsFiles = settings.filesFrom !== undefined && list.some(({ file }) => file === true);
  return [
    READS.has(method) ? "read_data" : changes,
    "external_api",
    "network_access",
    ...(readsFiles ? (["file_system"] as const) : []),
  ];
}

/** Returns the annotations that HTTP implies for a method. */
function toAnnotations(method: string): Partial<Annotations> {
  const readOnly = READS.has(method);
  return {
    readOnly,
    ...(readOnly ? { destructive: false } : method === "DELETE" ? { destructive: true } : {}),
    idempotent: readOnly || method === "PUT" || method === "DELETE",
    openWorld: true,
  };
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
