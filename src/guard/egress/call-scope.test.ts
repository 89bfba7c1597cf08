import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { mayReachInCall, outsideCalls, withinDomains } from "./domain-bound.ts";
import { createEgress } from "./egress.ts";

const HOSTS = ["a.test", "b.test", "deep.b.test", "c.test", "127.0.0.1"];

function reachable(): readonly string[] {
  return HOSTS.filter(mayReachInCall);
}

describe("what a call may reach", () => {
  it("is everything outside of a call that is bound", () => {
    expect(reachable()).toEqual(HOSTS);
  });

  it("is what its rule lists, however deep it asks and whatever it awaited", async () => {
    const inside = await withinDomains(["a.test", "*.b.test"], async () => {
      await nextTurn();
      return reachable();
    });
    expect(inside).toEqual(["a.test", "deep.b.test"]);
    expect(reachable()).toEqual(HOSTS);
  });

  it("is nothing where the list is empty", () => {
    expect(withinDomains([], reachable)).toEqual([]);
  });

  it("is what both may reach where one call is made by another", () => {
    const nested = (): readonly string[] => withinDomains(["b.test", "c.test"], reachable);
    expect(withinDomains(["a.test", "c.test"], nested)).toEqual(["c.test"]);
    expect(withinDomains([], nested)).toEqual([]);
  });

  it("is listed in any spelling of a name", () => {
    const names = ["A.Test.", "*.BÜCHER.test", "[::1]"];
    const hosts = ["a.test", "x.xn--bcher-kva.test", "xn--bcher-kva.test", "::1"];
    expect(withinDomains(names, () => hosts.filter(mayReachInCall))).toEqual(["a.test", "x.xn--bcher-kva.test", "::1"]);
  });

  it("does not bind what the program does for itself meanwhile", () => {
    expect(withinDomains([], () => outsideCalls(reachable))).toEqual(HOSTS);
    expect(withinDomains([], () => [outsideCalls(reachable).length, reachable().length])).toEqual([5, 0]);
  });

  it("does not mix up calls that run at the same time", async () => {
    const call = (host: string): Promise<readonly string[]> =>
      withinDomains([host], async () => {
        await nextTurn();
        return reachable();
      });
    expect(await Promise.all(["a.test", "c.test"].map(call))).toEqual([["a.test"], ["c.test"]]);
  });
});

describe("a request within a call", () => {
  it("goes to the domains of the call alone, also by redirect, also where the operator wrote the address", async () => {
    let reached = 0;
    const server = createServer((request, response) => {
      reached++;
      const { port } = server.address() as AddressInfo;
      if (request.url === "/away") response.writeHead(302, { location: `http://localhost:${port}/` });
      response.end("here");
    });
    await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const egress = createEgress({ allowPrivate: true });
    const ask = async (path: string): Promise<string> =>
      text((await egress.request(`${url}${path}`, { trusted: true })).body);
    try {
      expect(await withinDomains(["127.0.0.1"], () => ask("/"))).toBe("here");
      expect(reached).toBe(1);
      await expect(withinDomains(["localhost", "example.com"], () => ask("/"))).rejects.toMatchObject({
        code: "PERMISSION_DENIED",
        message: expect.stringContaining("127.0.0.1 is not among the domains that this call may reach"),
      });
      await expect(withinDomains([], () => ask("/"))).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
      expect(reached).toBe(1);
      await expect(withinDomains(["127.0.0.1"], () => ask("/away"))).rejects.toThrow(/localhost is not among/);
      expect(reached).toBe(2);
      expect(await withinDomains(["127.0.0.1", "localhost"], () => ask("/away"))).toBe("here");
    } finally {
      egress.close();
      server.close();
    }
  });
});
