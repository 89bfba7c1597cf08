import type { LookupAddress, LookupAllOptions, LookupOneOptions } from "node:dns";
import { describe, expect, it } from "vitest";
import type { Resolve } from "./check-url.ts";
import { checkedLookup, resolveAll } from "./connections.ts";

type LookupResult = readonly [error: Error | null, address: unknown, family: unknown];

/** What a lookup answers a socket that asks for one address, or for all. */
function lookUp(resolve: Resolve, options: LookupOneOptions | LookupAllOptions): Promise<LookupResult> {
  const lookup = checkedLookup(resolve, (address) => !address.startsWith("10."));
  return new Promise((answered) => {
    lookup("a.test", options, (error, address, family) => answered([error, address, family]));
  });
}

function resolvingTo(...addresses: LookupAddress[]): Resolve {
  return (_host, callback) => callback(null, addresses);
}

const FIRST = { address: "2606:4700::1", family: 6 };
const SECOND = { address: "1.1.1.1", family: 4 };

describe("the lookup of a name", () => {
  it("gives one address or all, as the socket asks", async () => {
    const resolve = resolvingTo(FIRST, SECOND);
    expect(await lookUp(resolve, {})).toEqual([null, "2606:4700::1", 6]);
    expect(await lookUp(resolve, { all: true })).toEqual([null, [FIRST, SECOND], undefined]);
  });

  it("is refused where any of the addresses is private, with what to do", async () => {
    const [error] = await lookUp(resolvingTo(SECOND, { address: "10.0.0.1", family: 4 }), { all: true });
    const fix = "Use a name that resolves to public addresses.";
    expect(error).toMatchObject({
      code: "PERMISSION_DENIED",
      message: `A request to a.test is refused: it resolves to 10.0.0.1, which is this machine or a private network. ${fix}`,
      details: { field: "url", value: "a.test", fix },
    });
  });

  it("fails where the name has no address, or the resolver fails", async () => {
    for (const options of [{}, { all: true } as const])
      expect((await lookUp(resolvingTo(), options))[0]?.message).toBe("a.test has no address");
    const failure = new Error("nobody answers");
    const failing: Resolve = (_host, callback) => callback(failure, []);
    expect((await lookUp(failing, { all: true }))[0]).toBe(failure);
  });

  it("asks the system for every address of the name", async () => {
    const addresses = await new Promise((answered) => {
      resolveAll("127.0.0.1", (_error, found) => answered(found));
    });
    expect(addresses).toEqual([{ address: "127.0.0.1", family: 4 }]);
  });
});
