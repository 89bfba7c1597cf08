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
    object(`${description} In a pattern, * matches any characters.`, {
      tags: list("Tags of operations.", text("A tag.")),
      paths: list("Paths, exactly as in the document.", text("A path, such as /repos/{owner}/*.")),
      methods: list("HTTP methods.", text("A method.")),
      operationIds: list("Ids of operations.", text("An operationId.")),
    }),
  );

export const config = entry(
  "One OpenAPI document.",
  {
    name: text("Name of the API, and namespace of its tools."),
    document: schema<string | object>({
      description:
        "The OpenAPI document (2.0, 3.0, 3.1 or 3.2, as JSON or YAML): a path, a URL, or the document itself.",
      anyOf: [{ type: "string", minLength: 1, format: "path" }, { type: "object" }],
    }),
    namespace: text("Namespace of the API's tools. Defaults to its name."),
    server: text("Base URL of the API. Defaults to the server in the document."),
    baseUrl: text("The same as server."),
    serverVariables: texts("Values for the variables in the document's server URLs."),
    credentials: credentials("the document's", { signIn: true }),
    headers: secretTexts("Headers sent with every request. A value may be a secret reference such as env:NAME."),
    include: filter("Uses only operations that match every list given here."),
    exclude: filter("Leaves out operations that match any list given here."),
    trustMethods: flag(
      "Whether the API follows the HTTP rules for methods: GET changes nothing, and PUT and DELETE can be repeated safely. Defaults to false.",
    ),
    filesFrom: folder("Folder with files that calls may send by path. If omitted, calls pass files as text or base64."),
    maxToolBytes: whole("Maximum size of a tool's definition, in bytes. Defaults to 32768.", 1_024, 16_777_216),
    maxDocumentBytes: whole("Maximum size of the document, in bytes. Defaults to 67108864.", 1_024, 1_073_741_824),
    maxAnswerBytes: whole("Maximum size of a response, in bytes. Defaults to 16777216.", 1_024, 1_073_741_824),
    timeoutMs: whole(
      "Timeout of one call, in milliseconds. Defaults to execution.default_timeout_ms.",
      1,
      2_147_483_647,
    ),
    maxConcurrent: whole(
      "Maximum number of concurrent calls to the API. Defaults to execution.max_concurrent_per_ensemble.",
      1,
      100_000,
    ),
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
