import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import * as testing from "../../src/testing/index.ts";
import { files, has } from "./project.ts";

/** Ports without a contract suite, each with its reason. */
const WITHOUT_SUITE: Readonly<Record<string, string>> = {};

const ports = files("src/*/*.port.ts").filter((path) => !(path in WITHOUT_SUITE));

describe("ports", () => {
  it("are there", () => expect(ports.length).toBeGreaterThanOrEqual(10));

  it.each(ports)("%s has a contract suite that toolarsenal/testing exports [000-3.1-contracts]", (path) => {
    const port = basename(path, ".port.ts");
    const suite = `${toCamel(port)}Contract`;
    expect(has(`src/testing/${port}.contract.ts`), `Write src/testing/${port}.contract.ts, see sink.contract.ts`).toBe(
      true,
    );
    expect(typeof (testing as Record<string, unknown>)[suite], `Export ${suite} from src/testing/index.ts`).toBe(
      "function",
    );
  });

  it("are the only ones that contract suites are written for", () => {
    const names = files("src/*/*.port.ts").map((path) => basename(path, ".port.ts"));
    const suites = files("src/testing/*.contract.ts").map((path) => basename(path, ".contract.ts"));
    expect(suites.filter((suite) => !names.includes(suite))).toEqual([]);
  });
});

function toCamel(name: string): string {
  return name.replaceAll(/-(?<letter>[a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
