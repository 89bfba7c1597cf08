import { isDeepStrictEqual } from "node:util";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";

interface ApiOperation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: object;
  }[];
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly schema: object }>> }>
  >;
}

/** The parts of an OpenAPI 3.1 document that answers are checked with. */
export interface ApiDescription {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

/** One answer of a server. The path is without a query. */
export interface ApiAnswer {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly type: string;
  readonly body: unknown;
}

/** Whether a document describes an answer, and the answer's problems by it. */
export interface ApiVerdict {
  /** The path's template. Undefined if the document has no such path and method. */
  readonly template: string | undefined;
  /** False for a status that the document does not list. */
  readonly isDescribed: boolean;
  readonly problems: readonly string[];
}

/** Makes a check of answers by an OpenAPI document. */
export function createApiCheck({ paths, components }: ApiDescription) {
  const ajv = new Ajv2020({ allErrors: true, strict: false });
  formats.default(ajv);
  ajv.addSchema({ $id: "api:document", components });
  const compiled = new Map<string, ReturnType<typeof ajv.compile>>();
  const problemsBy = (schema: object, value: unknown): readonly string[] => {
    const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"api:document#/');
    const check = compiled.get(text) ?? ajv.compile(JSON.parse(text) as object);
    compiled.set(text, check);
    return check(value) ? [] : (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
  const templates = Object.keys(paths).map(
    (template) => [template, new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`)] as const,
  );

  return {
    /** The problems of a value by one of the document's named shapes. */
    shape: (name: string, value: unknown): readonly string[] =>
      problemsBy({ $ref: `#/components/schemas/${name}` }, value),
    answer({ method, path, status, type, body }: ApiAnswer): ApiVerdict {
      const template = templates.find(([, pattern]) => pattern.test(path))?.[0];
      const operation = template === undefined ? undefined : paths[template]?.[method.toLowerCase()];
      if (operation === undefined) return { template: undefined, isDescribed: false, problems: [] };
      const described = operation.responses[status];
      if (described === undefined) return { template, isDescribed: false, problems: [] };
      const media = described.content[type.replace(/;.*/, "")];
      const problems = media === undefined ? [`the content type is ${type}`] : problemsBy(media.schema, body);
      return { template, isDescribed: true, problems };
    },
  };
}

/** Keywords that describe a value for readers and check nothing. */
const NOTES = new Set(["description", "example", "examples", "default", "summary"]);

/** Compares facts about an API with its document: shapes and operations that are missing, new or different. Empty if they agree. */
export function apiDifferences(facts: ApiDescription, document: ApiDescription): readonly string[] {
  const operationsOf = ({ paths }: ApiDescription): Readonly<Record<string, object>> =>
    Object.fromEntries(
      Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { parameters = [], responses }]) => {
          const answers = Object.entries(responses).map(([status, { content }]) => [status, content]);
          return [`${method.toUpperCase()} ${path}`, { parameters, answers: Object.fromEntries(answers) as object }];
        }),
      ),
    );
  return [
    ...differences("the shape ", facts.components.schemas, document.components.schemas),
    ...differences("", operationsOf(facts), operationsOf(document)),
  ];
}

function differences(
  kind: string,
  facts: Readonly<Record<string, object>>,
  document: Readonly<Record<string, object>>,
): readonly string[] {
  return [...new Set([...Object.keys(facts), ...Object.keys(document)])].flatMap((name) => {
    const [ours, theirs] = [facts[name], document[name]];
    if (ours === undefined) return [`${kind}${name} is only in the document`];
    if (theirs === undefined) return [`${kind}${name} is not in the document`];
    return isDeepStrictEqual(plain(ours), plain(theirs)) ? [] : [`${kind}${name} differs from the document`];
  });
}

/** A schema without notes for readers. The order of names in a list of required ones does not count. */
function plain(value: unknown, isNamed = false): unknown {
  if (Array.isArray(value)) {
    const items = value.map((each) => plain(each));
    return items.every((each) => typeof each === "string") ? items.toSorted() : items;
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      // A property may have the name of a keyword.
      .filter(([key]) => isNamed || !NOTES.has(key))
      .map(([key, each]) => [key, plain(each, key === "properties" && !isNamed)]),
  );
}
