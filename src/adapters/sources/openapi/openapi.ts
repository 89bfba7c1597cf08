import { resolve } from "node:path";
import { createEgress, type Egress } from "../../../guard/egress/egress.ts";
import { createOwnFiles } from "../../../guard/own-files.ts";
import { createSecrets, type Secrets } from "../../../guard/secrets/secrets.ts";
import { secretsInAddress } from "../../../guard/secrets/looks-secret.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { type ArsenalError, isArsenalError } from "../../../errors/arsenal-error.ts";
import type { Source, SourceOptions } from "../../../register/source.port.ts";
import { createAuthorize, credentialProblem, refusedCalls } from "../credentials/authorize.ts";
import { createClientTokens } from "../credentials/client-tokens.ts";
import type { UserLogin } from "../credentials/user-login.ts";
import type { UserTokens } from "../mcp/oauth/user-tokens.ts";
import { literalSecret } from "../credentials/literal-secret.ts";
import { fileName } from "../file-name.ts";
import {
  hasReference,
  type ImportCommand,
  isLocal,
  problemError,
  type Reach,
  type SourceSurroundings,
  type WatchedFiles,
} from "../source-adapter.ts";
import { loadDocument } from "./read/load-document.ts";
import type { Problem } from "./read/operations.ts";
import { type ReadDocument, readDocument, type ReadOperation } from "./read/read-document.ts";
import { locate } from "./read/servers.ts";
import type { OpenApiSettings } from "./settings.ts";

/** @internal */
export interface OpenApiParts {
  /** Defaults to an egress without rules. */
  readonly egress?: Egress;
  readonly clock?: Clock;
  /** Where secrets are read from. Defaults to the environment, files and the keychain. */
  readonly secrets?: Secrets;
  /** The gateway's own files, which are never sent. `arsenal.yaml`, `.env` and `.toolarsenal` are always included. */
  readonly ownFiles?: readonly string[];
  /** Tokens of callers who sign in to the API themselves. */
  readonly userTokens?: UserTokens | undefined;
}

/** @internal */
export interface OpenApiSource extends Source {
  /** The problems of the document. Empty until the source is connected. */
  readonly problems: readonly Problem[];
  /** The sign-in of callers. Undefined before the source is connected, or if callers do not sign in. */
  readonly login: UserLogin | undefined;
}

const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * Offers the operations of an OpenAPI document as tools. A call sends the operation's request and returns the response.
 *
 * @example
 * await arsenal.add(openapiSource({ name: "pets", document: "pets.yaml", credentials: { petKey: "env:PET_KEY" } }));
 * @internal
 */
export function openapiSource(given: OpenApiSettings, parts: OpenApiParts = {}): OpenApiSource {
  const { baseUrl, server = baseUrl, ...others } = given;
  const settings: OpenApiSettings = server === undefined ? others : { ...others, server };
  const { clock = systemClock, egress = createEgress(), secrets = createSecrets() } = parts;
  const { name, filesFrom, maxConcurrent, timeoutMs } = settings;
  const { maxDocumentBytes: maxBytes = MAX_DOCUMENT_BYTES, maxAnswerBytes = MAX_ANSWER_BYTES } = settings;
  const files =
    filesFrom === undefined ? undefined : { folder: filesFrom, isOwnFile: createOwnFiles(parts.ownFiles ?? []) };
  let read: ReadDocument | undefined;
  let logins: ReadonlyMap<string, UserLogin> = new Map();
  for (const address of [settings.document, server ?? ""])
    if (typeof address === "string") for (const secret of secretsInAddress(address)) secrets.redactor.add(secret);

  async function load({ signal, emit }: SourceOptions): Promise<void> {
    const document = await loadDocument(settings.document, { egress, maxBytes, signal });
    const tokens = createClientTokens(egress, clock);
    const whole = (url: string) => locate(url, { documentUrl: document.url, server });
    const loginOf = (scheme: string): UserLogin | undefined => logins.get(scheme);
    const authorize = createAuthorize({ settings, secrets, tokens, locate: whole, loginOf });
    const { redactor } = secrets;
    read = readDocument(document, settings, { egress, authorize, tokens, redactor, clock, files, maxAnswerBytes });
    if (parts.userTokens !== undefined) {
      const { createLogins } = await import("./read/logins.ts");
      const common = { tokens: parts.userTokens, egress, secrets, clock };
      logins = createLogins(read.operations, settings, whole, common);
    }
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
    get login() {
      return logins.values().next().value;
    },
    connect: load,
    reload: load,
    async list() {
      return read?.tools ?? [];
    },
    findings: () =>
      refusedCalls(
        (read?.operations ?? []).map(({ title, security, server: find }) => {
          return { title, error: credentialProblem(security, settings, "A call") ?? refusalOf(find) };
        }),
        "Or leave out what you do not call, with exclude.",
      ),
    async disconnect() {
      if (parts.egress === undefined) egress.close();
    },
  };
}

/** Returns the error of an operation that has no server. */
function refusalOf(server: ReadOperation["server"]): ArsenalError | undefined {
  try {
    server();
    return undefined;
  } catch (error) {
    if (isArsenalError(error)) return error;
    throw error;
  }
}

export async function create(settings: OpenApiSettings, surroundings: SourceSurroundings): Promise<OpenApiSource> {
  const found = literalSecret(settings);
  if (found !== undefined) throw problemError(settings.name, found);
  const { egress, clock, secrets } = surroundings;
  const ownFiles = settings.filesFrom === undefined ? [] : await surroundings.ownFiles();
  const isSignIn = Object.values(settings.credentials ?? {}).some(
    (each) => typeof each === "object" && "account" in each,
  );
  const userTokens = isSignIn ? await surroundings.userTokens?.() : undefined;
  return openapiSource(settings, { egress, clock, secrets, ownFiles, userTokens });
}

export { literalSecret as problem } from "../credentials/literal-secret.ts";

export function reach({
  document,
  baseUrl,
  server = baseUrl,
  filesFrom,
  credentials,
  headers,
}: OpenApiSettings): Reach {
  const place = typeof document === "string" ? [document] : [];
  return {
    reads: [...place.filter(isLocal), ...(filesFrom === undefined ? [] : [filesFrom])],
    addresses: place.filter((each) => !isLocal(each)),
    calls: server === undefined ? [] : [server],
    secrets: hasReference([credentials, headers]),
  };
}

export function watch({ document }: OpenApiSettings): WatchedFiles {
  return { files: typeof document === "string" && isLocal(document) ? [document] : [], followed: false };
}

const importDocument: ImportCommand = {
  summary: "From an OpenAPI document: a file or an address",
  positionals: ["SOURCE"],
  examples: [
    "import openapi petstore.yaml",
    "import openapi https://api.example.com/openapi.json --name shop > tools.jsonl",
  ],
  async open([place = ""], { folder, name }) {
    const document = /^(?:https?|file):/i.test(place) ? place : resolve(folder, place);
    const host = URL.parse(place)?.hostname ?? "";
    const source = openapiSource({ name: name ?? (host === "" ? fileName(place) : host), document });
    const skipped = (): readonly string[] =>
      source.problems.map(
        ({ operation, reason, skipped: isOut }) => `${isOut ? "Skipped" : "Not complete"}: ${operation}: ${reason}`,
      );
    return [{ source, skipped }];
  },
};

export { importDocument as import };
export { config } from "./settings.ts";
