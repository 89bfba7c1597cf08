import assert from "node:assert/strict";
import { validateHeaderValue } from "node:http";
import type { Credentials, Identity } from "../guard/identity.port.ts";
import { contract, type ContractCase, type Make } from "./contract.ts";

/** Known and unknown callers of the identity under test. */
export interface IdentityExamples {
  readonly known: Credentials;
  /** Well-formed but invalid credentials. */
  readonly unknown: Credentials;
}

const MALFORMED = [
  "",
  " ",
  "Bearer",
  "Bearer ",
  "Basic Og==",
  "Bearer a b",
  ",",
  "\u0000",
  "Bearer é\uD800",
  "x".repeat(100_000),
];

/** The contract of every identity. */
export function identityContract(make: Make<Identity>, examples: IdentityExamples): readonly ContractCase[] {
  return contract(make, {
    "knows a caller with good credentials": async (identity) => {
      const caller = await identity.authenticate(examples.known);
      assert.ok(caller !== undefined && caller.id !== "");
      for (const list of [caller.roles, caller.capabilities, caller.scopes]) assert.ok(Array.isArray(list));
    },
    "gives the same caller the same id": async (identity) => {
      const first = await identity.authenticate(examples.known);
      assert.equal((await identity.authenticate(examples.known))?.id, first?.id);
    },
    "never treats a remote caller as the local operator": async (identity) => {
      const caller = await identity.authenticate({ ...examples.known, remoteAddress: "203.0.113.7" });
      assert.notEqual(caller?.local, true);
    },
    "refuses a caller without credentials": async (identity) => {
      assert.equal(await identity.authenticate({ headers: {} }), undefined);
    },
    "refuses bad credentials": async (identity) => {
      assert.equal(await identity.authenticate(examples.unknown), undefined);
    },
    "answers malformed headers instead of rejecting": async (identity) => {
      for (const authorization of MALFORMED)
        assert.equal(await identity.authenticate({ headers: { authorization } }), undefined);
    },
    "has a challenge that a header can carry, with its scheme first": async (identity) => {
      validateHeaderValue("www-authenticate", identity.challenge);
      assert.match(identity.challenge, /^[A-Za-z][\w-]*(?: |$)/);
    },
  });
}
