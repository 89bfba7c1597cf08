import { entry, flag, folder, list, object, optional, path, type Setting, text, texts, whole } from "../../settings.ts";
import type { SecretReference } from "../../../guard/secrets/reference.ts";
import { type Credential, credentials } from "../credentials/settings.ts";

/** An API that an OpenAPI document describes. */
export interface OpenApiSettings {
  /** The ensemble's name, and the namespace of its tools unless `namespace` says another. */
  readonly name: string;
  readonly namespace?: string;
  /** OpenAPI 2.0, 3.0, 3.1 or 3.2: the path of a file or an address, JSON or YAML, or the document itself. */
  readonly document: string | object;
  /** Where the API is, instead of the servers that the document names. It may be on this machine or a private network. */
  readonly server?: string;
  /** Values for the variables in the document's server addresses. */
  readonly serverVariables?: Readonly<Record<string, string>>;
  /** What the API wants to see, by the name of the document's security scheme. */
  readonly credentials?: Readonly<Record<string, Credential>>;
  /** Sent with every request. A value `env:NAME` is read from the environment. */
  readonly headers?: Readonly<Record<string, SecretReference | string>>;
  /** Only operations that match. Defaults to all. */
  readonly include?: OperationFilter;
  /** Never operations that match. */
  readonly exclude?: OperationFilter;
  /** True if the API keeps what HTTP says of its methods: GET changes nothing, PUT and DELETE can be repeated. */
  readonly trustMethods?: boolean;
  /** A folder whose files may be sent by path. Without it, files are given as text or base64. */
  readonly filesFrom?: string;
  /** Bytes of a tool's definition, as JSON; a larger one is shortened. Default 32,768. */
  readonly maxToolBytes?: number;
  /** Bytes of the document. Default 64 MiB. */
  readonly maxDocumentBytes?: number;
  /** Bytes of an answer, decompressed. Default 16 MiB. */
  readonly maxAnswerBytes?: number;
  /** Time one call may take, in milliseconds. */
  readonly timeoutMs?: number;
  /** Calls at once. */
  readonly maxConcurrent?: number;
}

/** Which operations are meant. Each list has patterns in which `*` stands for any characters and case does not matter. */
export interface OperationFilter {
  readonly tags?: readonly string[];
  /** As the document writes them: `/repos/{owner}/*`. */
  readonly paths?: readonly string[];
  readonly methods?: readonly string[];
  readonly operationIds?: readonly string[];
}

export const config = entry(
  "One OpenAPI document.",
  {
    name: text("The API's name, and the namespace of its tools."),
    document: path("The document, JSON or YAML: a path from this file's folder, or an address."),
    namespace: text("Another namespace for its tools."),
    baseUrl: text("Where the API is, instead of the servers that the document names."),
    serverVariables: texts("Values for the variables in the document's server addresses."),
    credentials: credentials("the document's"),
    headers: texts("Headers sent with every request; a value such as env:NAME refers to a secret."),
    include: filter("Only operations that match all of these lists."),
    exclude: filter("Never operations that match one of these lists."),
    trustMethods: flag(
      "Whether the API keeps what HTTP says of its methods: GET changes nothing, PUT and DELETE can be repeated.",
    ),
    filesFrom: folder("A folder whose files may be sent by path."),
    maxToolBytes: whole("Bytes of a tool's definition; 32768 by default.", 1_024, 16_777_216),
    maxDocumentBytes: whole("Bytes of the document; 67108864 by default.", 1_024, 1_073_741_824),
    maxAnswerBytes: whole("Bytes of an answer; 16777216 by default.", 1_024, 1_073_741_824),
    timeoutMs: whole("Time one call may take, in milliseconds.", 1, 2_147_483_647),
    maxConcurrent: whole("Calls at once.", 1, 100_000),
    disabled: flag("Whether it is left out."),
  },
  ["name", "document"],
);

function filter(description: string): Setting<OperationFilter, OperationFilter, false> {
  return optional(
    object(`${description} * stands for any characters.`, {
      tags: list("Tags of operations.", text("A tag.")),
      paths: list("Paths as the document writes them.", text("A path, such as /repos/{owner}/*.")),
      methods: list("HTTP methods.", text("A method.")),
      operationIds: list("Ids of operations.", text("An operationId.")),
    }),
  );
}
