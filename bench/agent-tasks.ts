/** A request, and the tools that a model calls for it, in order: its text before each, and the words in which it would search for the tool. */
export interface Task {
  readonly request: string;
  readonly steps: readonly (readonly [says: string, tool: string, args: object, search: string])[];
}

export const TASKS: readonly Task[] = [
  {
    request: "Where is order 1042, and who bought it?",
    steps: [
      ["", "orders.get_order", { order_id: "1042" }, "look up an order by its number"],
      [
        "Let me look at where the parcel is.",
        "orders.track_shipment",
        { order_id: "1042" },
        "track the parcel of an order",
      ],
      ["Now the customer.", "crm.find_customer", { name: "Dana" }, "look up a customer by name"],
    ],
  },
  {
    request: "Dana cannot log in any more. Help her and write down that she called.",
    steps: [
      [
        "I will send her a link for a new password.",
        "accounts.reset_password",
        { email: "dana@example.com" },
        "send a link for a new password",
      ],
      [
        "Now I open a ticket for it.",
        "support.create_ticket",
        { customer: "C-17", problem: "Cannot log in" },
        "open a support ticket",
      ],
    ],
  },
  {
    request: "How many rain jackets do we have? Order more if there are fewer than ten, and tell the team in Slack.",
    steps: [
      ["", "stock.check_stock", { product: "rain jacket" }, "how many pieces of a product are in stock"],
      [
        "There are too few, so I order more.",
        "stock.reorder_product",
        { product: "rain jacket", pieces: "50" },
        "order more of a product",
      ],
      [
        "",
        "comms.post_slack_message",
        { channel: "#stock", text: "Rain jackets are on their way." },
        "write to a Slack channel",
      ],
    ],
  },
  {
    request: "Which invoices are overdue? Remind each customer by email.",
    steps: [
      ["", "billing.list_overdue_invoices", {}, "list invoices that are overdue"],
      [
        "",
        "comms.send_email",
        { to: "omar@example.com", subject: "Your invoice", body: "It is overdue." },
        "send an email",
      ],
    ],
  },
  {
    request: "The shop answers with errors since the last deployment. Find out why, and undo it.",
    steps: [
      ["I search the logs.", "engineering.search_logs", { text: "error" }, "search the logs of a service"],
      [
        "The new version is broken. I roll the service back.",
        "engineering.rollback_service",
        { service: "shop" },
        "roll a service back to the version before",
      ],
    ],
  },
  {
    request: "Translate 'good morning' into French.",
    steps: [["", "web.translate_text", { text: "good morning" }, "translate a text"]],
  },
];
