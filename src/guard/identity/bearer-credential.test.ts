import { expect, it } from "vitest";
import { bearerCredential } from "./any-identity.ts";

it.each([
  ["Bearer abc.d-e_f", "abc.d-e_f"],
  ["bearer   abc", "abc"],
  ["BEARER abc  ", "abc"],
])("takes the secret out of %j", (header, secret) => {
  expect(bearerCredential(header)).toBe(secret);
});

it.each([
  undefined,
  7,
  ["Bearer abc"],
  "",
  "Bearer",
  "Bearer ",
  "Bearerabc",
  "Basic abc",
  "x Bearer abc",
  "Bearer a b",
])("finds none in %j", (header) => {
  expect(bearerCredential(header)).toBeUndefined();
});
