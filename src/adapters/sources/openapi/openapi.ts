import { createEgress, type Egress } from "../../../guard/egress/egress.ts";
import { createOwnFiles } from "../../../guard/own-files.ts";
import { createSecrets, type Secrets } from "../../../guard/secrets/secrets.ts";
import { secretsInAddress } from "../../../guard/secrets/looks-secret.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import type { Source, SourceOptions } from "../../../register/source.port.ts";
import { createAuthorize } from "../credentials/authorize.ts";
import { createClientTokens } from "../credentials/client-tokens.ts";
import { loadDocument } from "./read/load-document.ts";
import type { Problem } from "./read/operations.ts";
import { type ReadDocument, readDocument } from "./read/read-document.ts";
import { locate } from "./read/servers.ts";
import type { OpenApiSettings } from "./settings.ts";

/** What the source of an API's tools can be given. @internal */
export interface OpenApiParts {
  /** The way out of the program. Defaults to one of its own, without rules. */
  readonly egress?: Egress;
  readonly clock?: Clock;
  /** Where secrets are found. Defaults to the environment, files and the keychain. */
  readonly secrets?: Secrets;
  /** The gateway's own files, which are never sent. `arsenal.yaml`, `.env` and `.toolarsenal` are not sent in any case. */
  readonly ownFiles?: readonly string[];
}

/** The tools of an API. @internal */
export interface OpenApiSource extends Source {
  /** What is wrong with the document, once it is connected. */
  readonly problems: readonly Problem[];
}

const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * The operations of an OpenAPI document, each a tool that sends its request and returns the answer.
 *
 * @example
 * await arsenal.addEnsemble(openapiSource({ name: "pets", document: "pets.yaml", credentials: { petKey: "env:PET_KEY" } }));
 * @internal
 */
export function openapiSource(settings: OpenApiSettings, parts: OpenApiParts = {}): OpenApiSource {
  const { clock = systemClock, egress = createEgress(), secrets = createSecrets() } = parts;
  const { name, server, filesFrom, maxConcurrent, timeoutMs } = settings;
  const { maxDocumentBytes: maxBytes = MAX_DOCUMENT_BYTES, maxAnswerBytes = MAX_ANSWER_BYTES } = settings;
  const files =
    filesFrom === undefined ? undefined : { folder: filesFrom, isOwnFile: createOwnFiles(parts.ownFiles ?? []) };
  let read: ReadDocument | undefined;
  for (const address of [settings.document, server ?? ""])
    if (typeof address === "string") for (const secret of secretsInAddress(address)) secrets.redactor.add(secret);

  async function load({ signal, emit }: SourceOptions): Promise<void> {
    const document = await loadDocument(settings.document, { egress, maxBytes, signal });
    const tokens = createClientTokens(egress, clock);
    const whole = (url: string) => locate(url, { documentUrl: document.url, server });
    const authorize = createAuthorize({ settings, secrets, tokens, locate: whole });
    const { redactor } = secrets;
    read = readDocument(document, settings, { egress, authorize, tokens, redactor, clock, files, maxAnswerBytes });
    for (const { operation, reason, skipped } of read.problems) {
      const message = `${operation} of ${name} is left out: ${reason}`;
      if (skipped) emit?.("tool-rejected", { name: operation, code: "TOOL_INVALID", message });
    }
  }

  return {
    name,
    kind: "openapi",
    namespaces: [settings.namespace ?? name],
    capabilities: ["network_access"],
    trustsAnnotations: settings.trustMethods === true,
    guardsEgress: true,
    maxConcurrent,
    timeoutMs,
    get problems() {
      return read?.problems ?? [];
    },
    connect: load,
    reload: load,
    async list() {
      return read?.tools ?? [];
    },
    async disconnect() {
      if (parts.egress === undefined) egress.close();
    },
  };
}

export { config } from "./settings.ts";
