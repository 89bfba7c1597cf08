import { describe, expect, expectTypeOf, it } from "vitest";
import { DERIVED, SHAPES } from "../../scripts/derive.ts";
import declared from "../../src/adapters/adapter-settings.json" with { type: "json" };
import { fileSchema } from "../../src/config/load/setting.ts";
import { toSnake } from "../../src/config/load/key-style.ts";
import { BATCH, type BatchCall, TOOL_CALL, type ToolCall } from "../../src/execute/call.ts";
import { PRINCIPAL, type Principal } from "../../src/guard/principal.ts";
import { TOOL_QUERY, type ToolQuery } from "../../src/retrieve/query.ts";
import { createDocument } from "../../src/serve/rest/document.ts";
import { OPERATIONS } from "../../src/serve/rest/operations/all.ts";
import { SOURCES } from "../../src/serve/rest/schemas/ensemble.ts";
import { TOOL_DRAFT, type ToolDraft } from "../../src/tool/draft.ts";
import type { JsonSchema } from "../../src/tool/json-schema.ts";
import { checkOf } from "../../src/tool/shape/check.ts";
import { HINTS, type Shape, text } from "../../src/tool/shape/shape.ts";
import {
  ACCESS_POLICY,
  type AccessPolicy,
  CONFIGURED_TOOLSET,
  TOOLSET,
  type Toolset,
} from "../../src/toolset/toolset.ts";
import { read } from "./project.ts";

interface Body {
  readonly requestBody: { readonly content: { readonly "application/json": { readonly schema: JsonSchema } } };
}

const { paths, components } = createDocument(OPERATIONS, { version: "", address: "", base: "", isSecured: true }) as {
  readonly paths: Readonly<Record<string, { readonly post: Body }>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
};

const explained = paths["/policy/explain"]?.post.requestBody.content["application/json"].schema.properties;

/** Each shape with its schema in /openapi.json. */
const OUTSIDE: readonly (readonly [name: string, shape: Shape, rest: unknown])[] = [
  ["query", TOOL_QUERY, components.schemas["ToolQuery"]],
  ["call", TOOL_CALL, components.schemas["ToolCall"]],
  ["batch", BATCH, components.schemas["BatchCall"]],
  ["principal", PRINCIPAL, explained?.["principal"]],
  ["draft", TOOL_DRAFT, components.schemas["ToolDraft"]],
];

const keysOf = (shape: unknown): readonly string[] => Object.keys((shape as JsonSchema).properties ?? {});

function isInCode(shape: Shape, key: string): boolean {
  return ((shape.properties ?? {})[key] as Shape)[HINTS]?.onlyInCode === true;
}

/** The top-level members that a page lists between its marks. */
function documented(name: string): readonly string[] {
  const [page = ""] = Object.entries(SHAPES).find(([, shapes]) => name in shapes) ?? [];
  const [, table = ""] = new RegExp(`<!-- ${name} -->\\n([^]*)<!-- /${name} -->`).exec(read(page)) ?? [];
  return [...table.matchAll(/^\| `([^`.[]+)`/gm)].map(([, key = ""]) => key);
}

describe.each(OUTSIDE)("the %s", (name, shape, rest) => {
  it("has its declared members in /openapi.json, without those that only code passes", () => {
    expect(keysOf(rest)).toEqual(keysOf(shape).filter((key) => !isInCode(shape, key)));
  });

  it("has its declared members in the docs", () => {
    expect(documented(name)).toEqual(keysOf(shape));
  });

  it("is checked by the library for every declared member, and for one that is added", () => {
    const added = { ...shape, properties: { ...shape.properties, added: text("A member.") } };
    const wrong = Object.fromEntries(keysOf(added).map((key) => [key, Symbol.iterator]));
    const fields = new Set<string>();
    checkOf(added)(wrong, "", (field) => fields.add(field));
    expect([...fields]).toEqual(keysOf(added));
  });
});

describe("the settings of a source", () => {
  const { sources } = declared as unknown as {
    readonly sources: Readonly<Record<string, { readonly config: JsonSchema }>>;
  };
  const listed = (
    (fileSchema().properties ?? {})["sources"] as { readonly items: { readonly anyOf: readonly JsonSchema[] } }
  ).items;

  it.each(Object.entries(sources))(
    "%s are the same in the configuration, REST and the docs",
    async (type, { config }) => {
      const keys = keysOf(config);
      expect(keysOf(SOURCES[type])).toEqual(expect.arrayContaining([...keys]));
      const inFiles = listed.anyOf.find(({ properties }) => JSON.stringify(properties?.["type"]).includes(`"${type}"`));
      expect(keysOf(inFiles)).toEqual(expect.arrayContaining(keys.map(toSnake)));
      const page = await DERIVED[`docs/reference/adapters/sources/${type}.md`]?.();
      expect(keys.filter((key) => page?.includes(`.${toSnake(key)}\``) !== true)).toEqual([]);
    },
  );
});

describe("a toolset", () => {
  it("has its declared members in /openapi.json and in the configuration", () => {
    expect(keysOf(components.schemas["Toolset"])).toEqual(keysOf(TOOLSET));
    const { items } = (fileSchema().properties ?? {})["toolsets"] as { readonly items: JsonSchema };
    expect(keysOf(items)).toEqual(keysOf(CONFIGURED_TOOLSET).map(toSnake));
    const policies = [items, components.schemas["Toolset"]].map((each) => keysOf(each?.properties?.["policy"]));
    expect(policies).toEqual([keysOf(ACCESS_POLICY).map(toSnake), keysOf(ACCESS_POLICY)]);
    for (const key of keysOf(CONFIGURED_TOOLSET))
      expect(read("docs/reference/configuration.md")).toContain(`\`toolsets[].${toSnake(key)}\``);
  });
});

describe("the types", () => {
  it("have the declared members", () => {
    expectTypeOf<keyof ToolQuery>().toEqualTypeOf<keyof typeof TOOL_QUERY.properties>();
    expectTypeOf<keyof ToolCall>().toEqualTypeOf<keyof typeof TOOL_CALL.properties>();
    expectTypeOf<keyof BatchCall>().toEqualTypeOf<keyof typeof BATCH.properties>();
    expectTypeOf<keyof Principal>().toEqualTypeOf<keyof typeof PRINCIPAL.properties>();
    expectTypeOf<keyof Toolset>().toEqualTypeOf<keyof typeof TOOLSET.properties>();
    expectTypeOf<keyof AccessPolicy>().toEqualTypeOf<keyof typeof ACCESS_POLICY.properties>();
    expectTypeOf<keyof ToolDraft>().toEqualTypeOf<keyof typeof TOOL_DRAFT.properties>();
  });

  it("require what the shapes require", () => {
    expectTypeOf<Principal["roles"]>().toEqualTypeOf<readonly string[]>();
    expectTypeOf<Pick<ToolCall, "toolName" | "timeoutMs">>().toEqualTypeOf<{
      readonly toolName: string;
      readonly timeoutMs?: number;
    }>();
    expectTypeOf<BatchCall["calls"]>().toEqualTypeOf<readonly ToolCall[]>();
  });
});
