import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { ShapeError } from "./documented-double.ts";

/** What a provider's published document says about the operations of a double. */
export interface ApiSchema {
  /** The operation of a request, as `POST /path/{name}`; undefined if the document has none. Throws for a request that the document does not allow. */
  checkRequest(method: string, path: readonly string[], query: URLSearchParams, body: unknown): string | undefined;
  /** Throws if the document does not allow this answer. */
  checkAnswer(operation: string, status: number, body: unknown): void;
}

interface Document {
  readonly operations: Readonly<
    Record<
      string,
      {
        readonly query: readonly string[];
        readonly request?: object;
        readonly responses: Readonly<Record<string, object>>;
      }
    >
  >;
  readonly schemas: object;
}

/** Compiled once for all tests of a file. */
const kept = new Map<string, ApiSchema>();

/** Reads `NAME.schema.json`, which extract.ts wrote. */
export function readApiSchema(name: string): ApiSchema {
  const known = kept.get(name) ?? readSchema(name);
  kept.set(name, known);
  return known;
}

function readSchema(name: string): ApiSchema {
  const file = new URL(`${name}.schema.json`, import.meta.url);
  const document = JSON.parse(readFileSync(file, "utf8")) as Document;
  const { operations } = document;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, name);

  function check(pointer: readonly string[], value: unknown): void {
    const parts = ["operations", ...pointer].map((part) =>
      encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")),
    );
    const validate = ajv.getSchema(`${name}#/${parts.join("/")}`);
    if (!validate) throw new Error(`no schema at ${pointer.join(" ")}`);
    if (validate(value) === true) return;
    const [first] = validate.errors ?? [];
    throw new ShapeError(
      `${first?.instancePath ?? ""} ${first?.message ?? "is not allowed"} ${JSON.stringify(first?.params)}`,
    );
  }

  function find(method: string, path: readonly string[]): string | undefined {
    return Object.keys(operations).find((operation) => {
      const [own, template = ""] = operation.split(" ");
      const parts = template.split("/").slice(1);
      return (
        own === method &&
        parts.length === path.length &&
        parts.every((part, at) => part.startsWith("{") || part === path[at])
      );
    });
  }

  return {
    checkRequest(method, path, query, body) {
      const operation = find(method, path);
      if (operation === undefined) return undefined;
      const { request, query: known } = operations[operation] as Document["operations"][string];
      for (const key of query.keys()) if (!known.includes(key)) throw new ShapeError(`unknown parameter ${key}`);
      if (request) check([operation, "request"], body);
      else if (body !== undefined) throw new ShapeError("a body was not expected");
      return operation;
    },
    checkAnswer(operation, status, body) {
      const { responses } = operations[operation] as Document["operations"][string];
      const key = [String(status), `${String(status)[0]}XX`, "default"].find((each) => each in responses);
      if (key !== undefined) check([operation, "responses", key], body);
    },
  };
}
