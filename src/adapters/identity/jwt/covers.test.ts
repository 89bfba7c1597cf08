import { expect, it } from "vitest";
import { covers } from "./jwt.ts";

const MCP = "https://tools.example.com/mcp";

it.each([
  [MCP, MCP],
  [`${MCP}/`, MCP],
  ["HTTPS://Tools.Example.COM/mcp", MCP],
  ["https://tools.example.com:443/mcp", MCP],
  ["https://tools.example.com", MCP],
  ["https://tools.example.com/", MCP],
  [MCP, `${MCP}/upstreams/files`],
  ["http://[::1]:8080/mcp", "http://[::1]:8080/mcp"],
])("a token for %s is one for %s", (audience, resource) => {
  expect(covers(audience, resource)).toBe(true);
});

it.each([
  [`${MCP}/upstreams/files`, MCP],
  [`${MCP}/upstreams/files`, `${MCP}/upstreams/files2`],
  ["http://tools.example.com/mcp", MCP],
  ["https://tools.example.com:8443/mcp", MCP],
  ["https://tools.example.com.evil.example/mcp", MCP],
  ["https://example.com", MCP],
  [`${MCP}?x`, MCP],
  [`${MCP}#x`, MCP],
  ["tools.example.com/mcp", MCP],
  ["tools", MCP],
  ["", MCP],
  ["https://tools.example.com/MCP", MCP],
])("a token for %s is none for %s", (audience, resource) => {
  expect(covers(audience, resource)).toBe(false);
});
