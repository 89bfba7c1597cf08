import { describe, expect, it } from "vitest";
import { secretsInAddress, secretsInArguments } from "./looks-secret.ts";

describe("an address", () => {
  it.each([
    ["https://ann:pass%2Fword@tools.example/mcp", ["pass/word"]],
    ["https://ann:100%25-sure%@tools.example/mcp", ["100%25-sure%"]],
    ["https://tools.example/mcp?api_key=written-out-key&limit=12345678901234", ["written-out-key"]],
    ["https://ann:password@tools.example/?access_token=written-out-token", ["password", "written-out-token"]],
  ])("%s has its password and its secret parameters", (address, secrets) => {
    expect(secretsInAddress(address)).toEqual(secrets);
  });

  it.each([
    "https://tools.example/mcp",
    "https://ann@tools.example/mcp",
    "https://tools.example/mcp?token=short",
    "not an address",
    "",
  ])("%j has none", (address) => {
    expect(secretsInAddress(address)).toEqual([]);
  });
});

describe("a program's arguments", () => {
  it("have the values of flags that are named like secrets", () => {
    const args = ["run", "--api-key=first-secret!", "--token", "second-secret", "-password", "third-secret"];
    expect(secretsInArguments(args)).toEqual(["first-secret!", "second-secret", "third-secret"]);
  });

  it("have none where a flag has another name, a short value, or no value", () => {
    const args = [
      "token",
      "written-out-text",
      "--tokens=written-out-text",
      "--token=short",
      "x--token=written-out",
      "--key",
    ];
    expect(secretsInArguments(args)).toEqual([]);
  });
});
