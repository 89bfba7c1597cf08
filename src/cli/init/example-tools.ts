/** An example tool as `tools.jsonl` and `tools.mjs` have it. */
export interface ExampleTool {
  readonly id: string;
  readonly description: string;
  /** Parameters by name, with their types. All are required. */
  readonly parameters: Readonly<Record<string, "string" | "number">>;
  /** The body of the handler, as JavaScript. */
  readonly handler: string;
}

/** The tools that `init` writes: small, offline, and enough for every command to have something to show. */
export const EXAMPLE_TOOLS: readonly ExampleTool[] = [
  {
    id: "crm.find_customer",
    description: "Find customers by any part of their name.",
    parameters: { name: "string" },
    handler: "({ name }) => customers.filter((customer) => customer.name.toLowerCase().includes(name.toLowerCase()))",
  },
  {
    id: "crm.update_email",
    description: "Change the email address of a customer.",
    parameters: { customer_id: "string", email: "string" },
    handler: "({ customer_id, email }) => ({ updated: customer_id, email })",
  },
  {
    id: "crm.delete_customer",
    description: "Erase a customer and all their personal data for good.",
    parameters: { customer_id: "string" },
    handler: "({ customer_id }) => ({ deleted: customer_id })",
  },
  {
    id: "billing.process_refund",
    description: "Refund a customer's payment: give the money for an order back, in full or in part.",
    parameters: { order_id: "string", amount: "number" },
    handler: "({ order_id, amount }) => ({ refunded: order_id, amount })",
  },
  {
    id: "billing.get_invoice",
    description: "Get the invoice for an order as a PDF.",
    parameters: { order_id: "string" },
    handler: "({ order_id }) => ({ file: `invoice-${order_id}.pdf` })",
  },
  {
    id: "support.create_ticket",
    description: "Open a support ticket for a problem that a customer reports.",
    parameters: { subject: "string" },
    handler: '({ subject }) => ({ ticket: "T-1", subject })',
  },
  {
    id: "mail.send_email",
    description: "Send an email message to one recipient.",
    parameters: { to: "string", subject: "string", body: "string" },
    handler: "({ to }) => ({ sent: true, to })",
  },
  {
    id: "calendar.create_event",
    description: "Put a meeting into the calendar.",
    parameters: { title: "string", start: "string" },
    handler: "({ title, start }) => ({ created: title, start })",
  },
];
