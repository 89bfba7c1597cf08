/** Returns the files that `init` writes, with this name for the configuration. Paths are relative to its folder. */
export function scaffold(config: string) {
  return [
    { path: config, purpose: "the configuration", text: CONFIG },
    { path: "tools.mjs", purpose: "example tools; replace them with your own", text: toolsModule() },
    { path: "policy.yaml", purpose: "who may call what", text: POLICY },
    { path: "policy.cases.yaml", purpose: "tests of the policy", text: CASES },
    { path: "tools.jsonl", purpose: "the tools that eval ranks", text: lines(TOOLS.map(({ tool }) => tool)) },
    { path: "queries.jsonl", purpose: "requests, and the tools that fit each", text: lines(QUERIES) },
    { path: ".toolarsenal/.gitignore", purpose: "keeps state, audit log and secrets out of git", text: "*\n" },
  ];
}

const CONFIG = `# yaml-language-server: $schema=./node_modules/toolarsenal/config.schema.json
# Every setting is described in node_modules/toolarsenal/docs/reference/configuration.md.

# Your own tools: each module's default export is called with the arsenal.
modules: [./tools.mjs]

# MCP servers, written as in Claude Desktop, Cursor or VS Code. "toolarsenal setup" adds the ones you use already.
# mcpServers:
#   files:
#     command: npx
#     args: [-y, "@modelcontextprotocol/server-filesystem", .]

security:
  policy_file: policy.yaml

# Approvals and accepted tools are kept here between runs.
state: { file: .toolarsenal/state.sqlite }

# Every call is recorded here.
audit: { file: .toolarsenal/audit.jsonl }
`;

const POLICY = `# Who may call what. Test it with: toolarsenal policy test policy.cases.yaml
version: 1
rules:
  - id: small-refunds
    effect: allow
    tools: [billing.process_refund]
    when: args.amount <= 100

  - id: large-refunds
    effect: require_approval
    tools: [billing.process_refund]
    when: args.amount > 100
    reason: Refunds above 100 need a second pair of eyes.

  - id: no-deleting
    effect: deny
    tools: ["*.delete_*"]
    hide: false
    reason: Customers are deleted by hand.
`;

const CASES = `# Calls, and what the policy must decide for each. Run: toolarsenal policy test policy.cases.yaml
policy: ./policy.yaml
cases:
  - name: anybody looks up customers
    tool: crm.find_customer
    principal: ada
    args: { name: dana }
    expect: allow
  - name: small refunds run at once
    tool: billing.process_refund
    principal: ada
    args: { order_id: "1042", amount: 20 }
    expect: allow
    rule: small-refunds
  - name: large refunds wait for a person
    tool: billing.process_refund
    principal: ada
    args: { order_id: "1042", amount: 500 }
    expect: require_approval
    rule: large-refunds
  - name: nobody deletes customers
    tool: crm.delete_customer
    principal: ada
    args: { customer_id: C-17 }
    expect: deny
    rule: no-deleting
`;

const QUERIES: readonly object[] = [
  { id: "refund", query: "give the customer their money back", relevant: ["billing.process_refund"] },
  { id: "lookup", query: "who is Dana Whitfield?", relevant: ["crm.find_customer"] },
  { id: "email", query: "Omar has a new email address", relevant: ["crm.update_email"] },
  { id: "invoice", query: "I need the invoice for order 1042", relevant: ["billing.get_invoice"] },
  { id: "ticket", query: "a customer says the login does not work", relevant: ["support.create_ticket"] },
  { id: "meeting", query: "schedule a meeting with the team on Friday at 10", relevant: ["calendar.create_event"] },
  { id: "write", query: "write to mei@example.com that her order is on its way", relevant: ["mail.send_email"] },
  { id: "nothing", query: "what is the weather like in Oslo?", relevant: [] },
];

/** The tools that `init` writes: small, offline, and enough to try every command. All parameters are required. Handlers are JavaScript. */
const EXAMPLE_TOOLS = [
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

const TOOLS = EXAMPLE_TOOLS.map(({ id, description, parameters, handler }) => {
  const [namespace = "", name = ""] = id.split(".");
  const properties = Object.fromEntries(Object.entries(parameters).map(([key, type]) => [key, { type }]));
  const schema = { type: "object", properties, required: Object.keys(parameters) };
  return { tool: { id, name, namespace, description, parameters: schema }, handler };
});

function toolsModule(): string {
  const registrations = TOOLS.map(
    ({ tool: { namespace, name, description, parameters }, handler }) => `  arsenal.register(
    {
      namespace: ${JSON.stringify(namespace)},
      name: ${JSON.stringify(name)},
      description: ${JSON.stringify(description)},
      parameters: ${JSON.stringify(parameters)},
    },
    ${handler},
  );
`,
  );
  return `const customers = [
  { id: "C-17", name: "Dana Whitfield", email: "dana@example.com" },
  { id: "C-21", name: "Omar Haddad", email: "omar@example.com" },
  { id: "C-34", name: "Mei Tanaka", email: "mei@example.com" },
];

/** Registers tools. A schema may also come from Zod, Valibot or ArkType. */
export default function registerTools(arsenal) {
${registrations.join("\n")}}
`;
}

function lines(values: readonly object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}
