import {
  entry,
  flag,
  folder,
  type InputOf,
  list,
  object,
  optional,
  schema,
  text,
  texts,
  whole,
} from "../../../tool/shape/shape.ts";
import { credentials, secretTexts } from "../credentials/settings.ts";

const filter = (description: string) =>
  optional(
    object(`${description} * stands for any characters.`, {
      tags: list("Tags of operations.", text("A tag.")),
      paths: list("Paths as the document writes them.", text("A path, such as /repos/{owner}/*.")),
      methods: list("HTTP methods.", text("A method.")),
      operationIds: list("Ids of operations.", text("An operationId.")),
    }),
  );

export const config = entry(
  "One OpenAPI document.",
  {
    name: text("The API's name, and the namespace of its tools."),
    document: schema<string | object>({
      description: "OpenAPI 2.0, 3.0, 3.1 or 3.2, JSON or YAML: a path, an address, or the document itself.",
      anyOf: [{ type: "string", minLength: 1, format: "path" }, { type: "object" }],
    }),
    namespace: text("Another namespace for its tools."),
    server: text("Where the API is, instead of the servers that the document names."),
    baseUrl: text("The same as server."),
    serverVariables: texts("Values for the variables in the document's server addresses."),
    credentials: credentials("the document's", { signIn: true }),
    headers: secretTexts("Headers sent with every request; a value such as env:NAME refers to a secret."),
    include: filter("Only operations that match all of these lists."),
    exclude: filter("Never operations that match one of these lists."),
    trustMethods: flag(
      "Whether the API keeps what HTTP says of its methods: GET changes nothing, PUT and DELETE can be repeated.",
    ),
    filesFrom: folder("A folder whose files may be sent by path. Without it, files are given as text or base64."),
    maxToolBytes: whole("Bytes of a tool's definition; 32768 by default.", 1_024, 16_777_216),
    maxDocumentBytes: whole("Bytes of the document; 67108864 by default.", 1_024, 1_073_741_824),
    maxAnswerBytes: whole("Bytes of an answer; 16777216 by default.", 1_024, 1_073_741_824),
    timeoutMs: whole("Time one call may take, in milliseconds.", 1, 2_147_483_647),
    maxConcurrent: whole("Calls at once.", 1, 100_000),
  },
  ["name", "document"],
);

/** An API that an OpenAPI document describes. */
export type OpenApiSettings = InputOf<typeof config>;

/** Selects operations. In a pattern, `*` matches any characters, and case is ignored. */
export type OperationFilter = NonNullable<OpenApiSettings["include"]>;

/**
 * Adds the operations of an OpenAPI document, for `arsenal.add`.
 *
 * @example
 * await arsenal.add(openapi({ name: "pets", document: "pets.yaml", credentials: { petKey: "env:PET_KEY" } }));
 */
export function openapi(settings: OpenApiSettings) {
  return { ...settings, type: "openapi" as const };
}
