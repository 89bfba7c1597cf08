/** An example tool as `tools.jsonl` and `tools.mjs` have it. */
export interface ExampleTool {
  readonly namespace: string;
  readonly name: string;
  readonly description: string;
  /** Parameters by name, with their types. All are required. */
  readonly parameters: Readonly<Record<string, "string" | "number">>;
  /** The body of the handler, as JavaScript. */
  readonly handler: string;
}

/** The tools that `init` writes: small, offline, and enough for every command to have something to show. */
export const EXAMPLE_TOOLS: readonly ExampleTool[] = [
  {
    namespace: "crm",
    name: "find_customer",
    description: "Find customers by any part of their name.",
    parameters: { name: "string" },
    handler: "({ name }) => customers.filter((customer) => customer.name.toLowerCase().includes(name.toLowerCase()))",
  },
  {
    namespace: "crm",
    name: "update_email",
    description: "Change the email address of a customer.",
    parameters: { customer_id: "string", email: "string" },
    handler: "({ customer_id, email }) => ({ updated: customer_id, email })",
  },
  {
    namespace: "crm",
    name: "delete_customer",
    description: "Erase a customer and all their personal data for good.",
    parameters: { customer_id: "string" },
    handler: "({ customer_id }) => ({ deleted: customer_id })",
  },
  {
    namespace: "billing",
    name: "process_refund",
    description: "Refund a customer's payment: give the money for an order back, in full or in part.",
    parameters: { order_id: "string", amount: "number" },
    handler: "({ order_id, amount }) => ({ refunded: order_id, amount })",
  },
  {
    namespace: "billing",
    name: "get_invoice",
    description: "Get the invoice for an order as a PDF.",
    parameters: { order_id: "string" },
    handler: "({ order_id }) => ({ file: `invoice-${order_id}.pdf` })",
  },
  {
    namespace: "support",
    name: "create_ticket",
    description: "Open a support ticket for a problem that a customer reports.",
    parameters: { subject: "string" },
    handler: '({ subject }) => ({ ticket: "T-1", subject })',
  },
  {
    namespace: "mail",
    name: "send_email",
    description: "Send an email message to one recipient.",
    parameters: { to: "string", subject: "string", body: "string" },
    handler: "({ to }) => ({ sent: true, to })",
  },
  {
    namespace: "calendar",
    name: "create_event",
    description: "Put a meeting into the calendar.",
    parameters: { title: "string", start: "string" },
    handler: "({ title, start }) => ({ created: title, start })",
  },
];

/** The JSON Schema of a tool's parameters. */
export function schemaOf({ parameters }: ExampleTool): object {
  const properties = Object.entries(parameters).map(([name, type]) => [name, { type }]);
  return { type: "object", properties: Object.fromEntries(properties), required: Object.keys(parameters) };
}
