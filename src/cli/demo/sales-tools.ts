import { type DemoTool, read, write } from "./demo-tool.ts";

const CUSTOMERS = [
  { id: "C-17", name: "Dana Whitfield", email: "dana@example.com", city: "Berlin", plan: "team" },
  { id: "C-21", name: "Omar Haddad", email: "omar@example.com", city: "Lyon", plan: "starter" },
  { id: "C-34", name: "Mei Tanaka", email: "mei@example.com", city: "Osaka", plan: "business" },
];
const ORDERS = [
  { id: "1042", customer: "C-17", total: 129, status: "delivered" },
  { id: "1043", customer: "C-21", total: 49, status: "shipped" },
];

/** Customers, support, orders, billing and stock. */
export const SALES_TOOLS: readonly DemoTool[] = [
  // The five tools that every demo uses.
  read("data.query_database", "Run a read-only SQL query against the company database and return the matching rows.", {
    parameters: { sql: "The SELECT statement to run" },
    tags: ["query", "search", "read"],
    examples: ["How many orders did we get last week?"],
    handler: ({ sql }) => ({ sql, rows: ORDERS }),
  }),
  write("comms.send_email", "Send an email message to one or more recipients.", {
    parameters: { to: "Address of the recipient", subject: "The subject line", body: "The text of the message" },
    tags: ["email", "send", "message"],
    capabilities: ["external_api"],
    handler: ({ to }) => ({ sent: true, to }),
  }),
  write("accounts.create_user", "Create a user account with a name, an email address and a role.", {
    parameters: { name: "Full name", email: "Email address" },
    tags: ["user", "create", "admin"],
    capabilities: ["write_data", "pii_access"],
    handler: ({ name }) => ({ created: name }),
  }),
  write("billing.process_refund", "Refund a customer's payment for an order, in full or in part.", {
    parameters: { order_id: "The order to refund" },
    tags: ["refund", "customer", "support"],
    capabilities: ["financial"],
    requiresConfirmation: true,
    examples: ["The customer wants her money back", "Refund the damaged item"],
    handler: ({ order_id }) => refund(order_id),
  }),
  read("reports.generate_report", "Generate a sales report for a period, with charts, as PDF or spreadsheet.", {
    parameters: { period: "The period to cover" },
    tags: ["report", "analyze", "aggregate"],
    examples: ["I need the quarterly numbers"],
    handler: ({ period }) => ({ file: `sales-${String(period)}.pdf` }),
  }),

  read("crm.find_customer", "Find customers by name, email address or city.", {
    parameters: { name: "Any part of the name" },
    tags: ["customer", "search", "get"],
    examples: ["Who is Dana?"],
    handler: ({ name }) =>
      CUSTOMERS.filter((customer) => customer.name.toLowerCase().includes(String(name).toLowerCase())),
  }),
  read("crm.get_customer_history", "List everything a customer bought, asked and complained about.", {
    parameters: { customer_id: "The customer's id" },
    tags: ["customer", "list", "get"],
    handler: ({ customer_id }) => ORDERS.filter(({ customer }) => customer === customer_id),
  }),
  write("crm.update_customer", "Change a customer's contact details or plan.", {
    parameters: { customer_id: "The customer's id", email: "New email address" },
    tags: ["customer", "update"],
    handler: ({ customer_id }) => ({ updated: customer_id }),
  }),
  write("crm.delete_customer", "Erase a customer and all personal data for good.", {
    parameters: { customer_id: "The customer's id" },
    tags: ["customer", "delete"],
    capabilities: ["delete_data", "pii_access"],
    handler: ({ customer_id }) => ({ deleted: customer_id }),
  }),
  write("support.create_ticket", "Open a support ticket for a customer's problem.", {
    parameters: { subject: "What is wrong", priority: "low, normal or high" },
    tags: ["ticket", "create", "support"],
    handler: () => ({ ticket: "T-311" }),
  }),
  write("support.reply_ticket", "Answer a support ticket and optionally close it.", {
    parameters: { ticket_id: "The ticket", text: "The answer" },
    tags: ["ticket", "message", "support"],
    handler: ({ ticket_id }) => ({ replied: ticket_id }),
  }),
  read("support.search_tickets", "Search support tickets by words, state or customer.", {
    parameters: { query: "Words to look for" },
    tags: ["ticket", "search", "support"],
    handler: () => [{ id: "T-298", subject: "Login loop" }],
  }),
  read("support.search_help_articles", "Search the public help center for articles that answer a question.", {
    parameters: { question: "The question" },
    tags: ["search", "support", "read"],
    handler: () => [{ title: "Reset your password" }],
  }),
  write("support.escalate_ticket", "Hand a ticket over to the engineer on call.", {
    parameters: { ticket_id: "The ticket" },
    tags: ["ticket", "support", "notify"],
    handler: ({ ticket_id }) => ({ escalated: ticket_id }),
  }),

  read("orders.get_order", "Show one order with its items, payment and delivery state.", {
    parameters: { order_id: "The order's number" },
    tags: ["get", "read", "customer"],
    examples: ["Where is order 1042?"],
    handler: ({ order_id }) => ORDERS.find(({ id }) => id === order_id) ?? null,
  }),
  read("orders.track_shipment", "Track a parcel: where it is now and when it arrives.", {
    parameters: { tracking_number: "Number on the parcel" },
    tags: ["get", "search"],
    handler: () => ({ place: "Leipzig", arrives: "tomorrow" }),
  }),
  write("orders.cancel_order", "Cancel an order that has not been shipped.", {
    parameters: { order_id: "The order's number" },
    tags: ["update", "customer"],
    handler: ({ order_id }) => ({ cancelled: order_id }),
  }),
  read("billing.get_invoice", "Fetch an invoice as PDF by its number.", {
    parameters: { invoice_number: "Number of the invoice" },
    tags: ["get", "download", "file"],
    handler: ({ invoice_number }) => ({ file: `${String(invoice_number)}.pdf` }),
  }),
  read("billing.list_overdue_invoices", "List unpaid invoices that are past their due date.", {
    parameters: {},
    tags: ["list", "query"],
    handler: () => [{ number: "2024-118", days: 12 }],
  }),
  write("billing.payment_capture", "Charge a stored payment method.", {
    parameters: { customer_id: "Whom to charge", amount: "How much" },
    tags: ["payment", "create"],
    capabilities: ["financial"],
    handler: ({ amount }) => ({ charged: amount }),
  }),
  read("billing.calculate_tax", "Calculate sales tax for an amount and a place.", {
    parameters: { amount: "Net amount", place: "State or country" },
    tags: ["calculate", "compute"],
    handler: ({ amount }) => ({ tax: Number(amount) * 0.08 }),
  }),
  write("billing.apply_discount", "Give a customer a discount code or a percentage off.", {
    parameters: { customer_id: "The customer", percent: "Percent off" },
    tags: ["update", "customer"],
    handler: ({ percent }) => ({ discount: percent }),
  }),
  read("stock.check_stock", "Tell how many pieces of a product are in the warehouse.", {
    parameters: { sku: "The product's SKU" },
    tags: ["get", "query"],
    handler: ({ sku }) => ({ sku, pieces: 42 }),
  }),
  write("stock.reorder_product", "Order more pieces of a product from its supplier.", {
    parameters: { sku: "The product's SKU", pieces: "How many" },
    tags: ["create"],
    handler: ({ pieces }) => ({ ordered: pieces }),
  }),
];

function refund(order: unknown): { readonly refunded: unknown; readonly amount: number } {
  return { refunded: order, amount: ORDERS.find(({ id }) => id === order)?.total ?? 0 };
}
