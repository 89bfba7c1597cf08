import { createEgress, type Egress } from "../../../guard/egress/egress.ts";
import { createSecrets, type Secrets } from "../../../guard/secrets/secrets.ts";
import { secretsInAddress } from "../../../guard/secrets/looks-secret.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import type { Emit } from "../../../observe/events.ts";
import type { Source, SourceOptions } from "../../../register/source.port.ts";
import { createAuthorize } from "../credentials/authorize.ts";
import { createClientTokens } from "../credentials/client-tokens.ts";
import { loadDocument } from "./read/load-document.ts";
import type { Problem } from "./read/operations.ts";
import { type ReadDocument, readDocument } from "./read/read-document.ts";
import { locate, type Located } from "./read/servers.ts";
import type { OpenApiSettings } from "./settings.ts";

/** What the source of an API's tools can be given. @internal */
export interface OpenApiParts {
  /** The way out of the program. Defaults to one of its own, without rules. */
  readonly egress?: Egress;
  readonly clock?: Clock;
  /** Where secrets are found. Defaults to the environment, files and the keychain. */
  readonly secrets?: Secrets;
  /** Where `env:NAME` is looked up, without `secrets`. Defaults to the process's own. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Told of each operation that cannot be used, or not wholly. */
  readonly report?: (problem: Problem) => void;
  readonly emit?: Emit;
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
  const { clock = systemClock, environment = process.env, egress = createEgress(), report, emit } = parts;
  const { secrets = createSecrets({ environment }) } = parts;
  const { name, maxConcurrent, timeoutMs } = settings;
  let read: ReadDocument | undefined;
  for (const address of [settings.document, settings.server ?? ""])
    if (typeof address === "string") for (const secret of secretsInAddress(address)) secrets.redactor.add(secret);

  async function load({ signal }: Pick<SourceOptions, "signal">): Promise<void> {
    const maxBytes = settings.maxDocumentBytes ?? MAX_DOCUMENT_BYTES;
    const document = await loadDocument(settings.document, { egress, maxBytes, signal });
    const tokens = createClientTokens(egress, clock);
    const { server } = settings;
    const whole = (url: string): Located | undefined => locate(url, { documentUrl: document.url, server });
    const authorize = createAuthorize({ settings, secrets, tokens, locate: whole });
    read = readDocument(document, settings, {
      egress,
      authorize,
      tokens,
      redactor: secrets.redactor,
      clock,
      filesFrom: settings.filesFrom,
      maxAnswerBytes: settings.maxAnswerBytes ?? MAX_ANSWER_BYTES,
    });
    for (const problem of read.problems) {
      report?.(problem);
      const message = `${problem.operation} of ${name} ${problem.skipped ? "is left out" : "is not complete"}: ${problem.reason}`;
      if (problem.skipped) emit?.("tool-rejected", { name: problem.operation, code: "TOOL_INVALID", message });
    }
  }

  return {
    name,
    kind: "openapi",
    namespaces: [settings.namespace ?? name],
    capabilities: ["network_access"],
    trustsAnnotations: settings.trustMethods === true,
    guardsEgress: true,
    ...(maxConcurrent === undefined ? {} : { maxConcurrent }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
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
