import type { JsonSchema } from "../tool/json-schema.ts";
import { choice, list, object, optional, text, texts, whole } from "./schema-parts.ts";

/** One entry of `openapi`. */
export function openApiDocument(): JsonSchema {
  return object(
    "One OpenAPI document.",
    {
      name: text("The API's name, and the namespace of its tools."),
      document: text("The document, JSON or YAML: a path from this file's folder, or an address."),
      namespace: text("Another namespace for its tools."),
      baseUrl: text("Where the API is, instead of the servers that the document names."),
      serverVariables: texts("Values for the variables in the document's server addresses."),
      credentials: credentials(),
      headers: texts("Headers sent with every request; a value such as env:NAME refers to a secret."),
      include: filter("Only operations that match all of these lists."),
      exclude: filter("Never operations that match one of these lists."),
      trustMethods: {
        description:
          "Whether the API keeps what HTTP says of its methods: GET changes nothing, PUT and DELETE can be repeated.",
        type: "boolean",
      },
      filesFrom: text("A folder whose files may be sent by path."),
      maxToolBytes: whole("Bytes of a tool's definition; 32768 by default.", 1_024, 16_777_216),
      maxDocumentBytes: whole("Bytes of the document; 67108864 by default.", 1_024, 1_073_741_824),
      maxAnswerBytes: whole("Bytes of an answer; 16777216 by default.", 1_024, 1_073_741_824),
      timeoutMs: whole("Time one call may take, in milliseconds.", 1, 2_147_483_647),
      maxConcurrent: whole("Calls at once.", 1, 100_000),
      disabled: { description: "Whether it is left out.", type: "boolean" },
    },
    ["name", "document"],
  );
}

function filter(description: string): JsonSchema {
  return optional(
    object(`${description} * stands for any characters.`, {
      tags: list("Tags of operations.", text("A tag.")),
      paths: list("Paths as the document writes them.", text("A path, such as /repos/{owner}/*.")),
      methods: list("HTTP methods.", text("A method.")),
      operationIds: list("Ids of operations.", text("An operationId.")),
    }),
  );
}

/** By the name of a security scheme, which is the document's own: keys are not renamed. */
function credentials(): JsonSchema {
  const reference = { type: "string", minLength: 1 };
  const basic = { username: reference, password: reference };
  const client = {
    client_id: reference,
    client_secret: reference,
    token_url: reference,
    scopes: { type: "array", items: { type: "string" } },
    send_in: choice("Where id and secret are sent; header by default.", ["header", "body"]),
  };
  const mapping = (properties: object, required: readonly string[]): object => {
    return { type: "object", properties, required, additionalProperties: false };
  };
  return {
    description:
      "By the name of the document's security scheme: a reference to a secret (env:NAME), { username, password } or { client_id, client_secret }.",
    type: "object",
    additionalProperties: {
      anyOf: [reference, mapping(basic, ["username"]), mapping(client, ["client_id", "client_secret"])],
    },
  };
}
