import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromAlias, fromFormerAlias, isCutAlias, toAlias } from "./alias.ts";

const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,127}$/);
const namespace = fc.oneof(
  fc.constant("default"),
  fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,20}(\.[a-z0-9][a-z0-9_-]{0,20}){0,3}$/),
  fc.stringMatching(/^[a-c0][-_a0]{0,4}(\.[a-c0][-_a0]{0,4}){0,2}$/),
  fc.stringMatching(/^default(\.[a-c]){0,2}$/),
);
const id = fc.tuple(namespace, fc.oneof(name, fc.stringMatching(/^[a-c][a0_]{0,2}$/))).map((parts) => parts.join("."));

describe("toAlias", () => {
  it.each([
    ["default.add", "add"],
    ["billing.refund_user", "billing-refund_user"],
    ["maths.basic.add", "maths--basic-add"],
    ["git-hub.search", "git-hub-search"],
    ["sequential-thinking.sequentialthinking", "sequential-thinking-sequentialthinking"],
    ["default.sub.add", "default--sub-add"],
    ["3d.print", "_3d-print"],
  ])("spells %s as %s, and back", (given, alias) => {
    expect(toAlias(given)).toBe(alias);
    expect(fromAlias(alias)).toBe(given);
  });

  it("cuts what is too long, keeping the beginnings of namespace and name, and ends it in a hash", () => {
    const long = `${"server".repeat(12)}.list_invoices`;
    expect(toAlias(long)).toMatch(/^serverserver.*-list_invoices-0[0-9a-f]{12}$/);
    expect(toAlias(long)).toHaveLength(64);
    expect(toAlias(`default.${"do_it_".repeat(20)}`)).toMatch(/^do_it_do_it_.*-0[0-9a-f]{12}$/);
    expect([fromAlias(toAlias(long)), isCutAlias(toAlias(long))]).toEqual([undefined, true]);
  });

  it.each([
    ["evil", `github_create_issue_${"x".repeat(80)}`, /^evil-github_create_issue_x+-0[0-9a-f]{12}$/],
    ["acme.git-hub", "x".repeat(128), /^acme--git-hub-x+-0[0-9a-f]{12}$/],
    ["3d", "x".repeat(128), /^_3d-x+-0[0-9a-f]{12}$/],
    ["n".repeat(100), "x".repeat(128), /^n{24}-x{25}-0[0-9a-f]{12}$/],
    [`${"n".repeat(23)}.${"m".repeat(60)}`, "x".repeat(128), /^n{23}-x{26}-0[0-9a-f]{12}$/],
  ])("begins with the namespace, however long the name: %s", (space, own, spelled) => {
    expect(toAlias(`${space}.${own}`)).toMatch(spelled);
    expect(toAlias(`${space}.${own}`)).toHaveLength(64);
  });

  it("never begins like a tool of another namespace, unless that begins alike", () => {
    const long = fc.stringMatching(/^[a-z][a-z0-9_]{70,127}$/);
    const server = fc.stringMatching(/^[a-z0-9][a-z0-9_]{0,12}$/).filter((each) => each !== "default");
    fc.assert(
      fc.property(server, long, (space, own) => {
        const [first] = toAlias(`${space}.${own}`).split("-");
        expect(first).toBe(/^\d/.test(space) ? `_${space}` : space);
      }),
    );
  });

  it("keeps ids apart that differ only in dots and dashes", () => {
    const ids = ["a.b.c", "a-b.c", "a--b.c", "a-.b.c", "a.b-.c", "a.b_c", "a_b.c"];
    expect(new Set(ids.map(toAlias)).size).toBe(ids.length);
  });

  it("gives every id a name that every model API takes", () => {
    fc.assert(
      fc.property(id, (given) => {
        expect(toAlias(given)).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
      }),
    );
  });

  it("gives different ids different names", () => {
    fc.assert(
      fc.property(fc.uniqueArray(id, { minLength: 2, maxLength: 60 }), (ids) => {
        expect(new Set(ids.map(toAlias)).size).toBe(ids.length);
      }),
    );
  });

  it("can be read back wherever nothing was cut", () => {
    fc.assert(
      fc.property(id, (given) => {
        const alias = toAlias(given);
        expect(fromAlias(alias)).toBe(isCutAlias(alias) ? undefined : given);
      }),
    );
  });
});

it("reads the names of earlier versions, in which dashes were doubled", () => {
  expect(fromFormerAlias("sequential--thinking-sequentialthinking")).toBe("sequential-thinking.sequentialthinking");
  expect(fromFormerAlias("maths-basic-add")).toBe("maths.basic.add");
  expect(fromFormerAlias("_3d-print")).toBe("3d.print");
});

describe("fromAlias", () => {
  it.each(["default-add", "_add", "-a", "a-", "3d-print", "A-b", "a".repeat(65), ""])(
    "reads no id, or one that is spelled so, from %j",
    (alias) => {
      const read = fromAlias(alias);
      expect(read === undefined || toAlias(read) === alias).toBe(true);
    },
  );
});
