import type { ToolResult } from "../execute/result.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { Tool } from "../tool/tool.ts";

/** Five ordinary business tools, for tests that need tools. */
export function sampleTools(): readonly Tool[] {
  return [
    defineTool({
      name: "query_database",
      description: "Run a read-only SQL query against the company database and return the matching rows.",
      parameters: object({ sql: "The SELECT statement to run.", limit: "The most rows to return." }, ["sql"]),
      tags: ["database", "query", "search", "read"],
      examples: ["How many orders did we get last week?", "Look up all customers in Berlin"],
      capabilities: ["read_data"],
      annotations: { readOnly: true },
    }),
    defineTool({
      name: "send_email",
      description: "Send an email message to one or more recipients, with an optional attachment.",
      parameters: object(
        { to: "Addresses of the recipients.", subject: "The subject line.", body: "The text of the message." },
        ["to", "subject", "body"],
      ),
      tags: ["email", "message", "notify", "send"],
      examples: ["Write to Dana that the invoice is paid"],
      capabilities: ["network_access", "external_api"],
    }),
    defineTool({
      name: "create_user",
      description: "Create a new user account with a name, an email address and a role.",
      parameters: object(
        { name: "Full name of the person.", email: "Their email address.", role: "What they may do." },
        ["name", "email"],
      ),
      tags: ["user", "create", "admin", "account"],
      examples: ["Set up an account for our new colleague"],
      capabilities: ["write_data", "pii_access"],
    }),
    defineTool({
      name: "process_refund",
      description: "Refund a customer's payment for an order, in full or in part.",
      parameters: object({ order_id: "The order to refund.", amount: "How much to give back.", reason: "Why." }, [
        "order_id",
      ]),
      tags: ["refund", "customer", "support", "payment"],
      examples: ["Give the customer their money back for order 1042"],
      capabilities: ["write_data", "financial"],
      requiresConfirmation: true,
    }),
    defineTool({
      name: "generate_report",
      description: "Generate a sales or revenue report for a period, with charts, as PDF or spreadsheet.",
      parameters: object({ period: "The period to cover.", format: "pdf or xlsx." }, ["period"]),
      tags: ["report", "analyze", "aggregate", "export"],
      examples: ["I need the quarterly numbers as a PDF"],
      capabilities: ["read_data"],
      annotations: { readOnly: true },
    }),
  ];
}

export function resultOf(toolName: string, result?: unknown): ToolResult {
  const times = { queuedAt: 0, completedAt: 5, latencyMs: 5 };
  return { toolName, status: "success", result, ...times, attempts: 1, traceId: "t", spanId: "s" };
}

function object(properties: Readonly<Record<string, string>>, required: readonly string[]): Tool["parameters"] {
  return {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, description]) => [
        name,
        { type: name === "limit" || name === "amount" ? "number" : "string", description },
      ]),
    ),
    required,
  };
}
