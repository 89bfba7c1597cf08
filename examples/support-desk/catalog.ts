import type { ToolDraft } from "toolarsenal";

/** The systems of a support desk: the thing each one keeps, and an identifier that such a thing has. */
const SYSTEMS: readonly (readonly [system: string, thing: string, about: string])[] = [
  ["orders", "order", "what a customer bought, and for how much"],
  ["shipments", "parcel", "where goods are on their way to a customer"],
  ["payments", "charge", "money taken from a customer's card"],
  ["refunds", "refund", "money given back to a customer"],
  ["subscriptions", "subscription", "a plan that a customer pays every month"],
  ["invoices", "invoice", "a bill with tax, as a document"],
  ["customers", "customer", "a person who buys, with name and email address"],
  ["accounts", "login", "the account with which a customer signs in"],
  ["tickets", "ticket", "a question or complaint of a customer"],
  ["macros", "saved reply", "a prepared answer that agents of the desk reuse"],
  ["articles", "help article", "a page of the public help center"],
  ["calls", "phone call", "a recorded telephone call with a customer"],
  ["chats", "chat", "a conversation in the chat window of the shop"],
  ["surveys", "survey", "how satisfied a customer was"],
  ["coupons", "coupon", "a code that lowers a price"],
  ["gift_cards", "gift card", "prepaid money with a code"],
  ["loyalty", "points account", "bonus points of a customer"],
  ["products", "product", "an article that the shop sells"],
  ["prices", "price list", "what products cost in a country"],
  ["stock", "stock level", "how many pieces a warehouse has"],
  ["suppliers", "supplier", "a company that delivers products"],
  ["returns", "return", "goods that a customer sends back"],
  ["warranties", "warranty claim", "a broken product within the guarantee"],
  ["stores", "store", "a shop in a street, with opening hours"],
  ["staff", "shift", "who of the desk works when"],
  ["incidents", "incident", "a failure of the shop's own systems"],
  ["reviews", "review", "stars and text that customers write about a product"],
  ["campaigns", "newsletter", "an email to many customers"],
  ["fraud", "fraud case", "a purchase that looks like a stolen card"],
  ["privacy", "data request", "a customer's wish to see or erase personal data"],
];

/** The actions of each system: verb, description, and whether it only reads. */
const ACTIONS: readonly (readonly [verb: string, does: string, reads: boolean])[] = [
  ["get", "Shows one THING by its number", true],
  ["list", "Lists every THING of a customer", true],
  ["search", "Searches THINGS by words", true],
  ["create", "Creates a THING", false],
  ["update", "Changes the details of a THING", false],
  ["cancel", "Cancels a THING", false],
  ["assign", "Assigns a THING to a colleague", false],
  ["export", "Exports THINGS of a month as a spreadsheet", true],
  ["note", "Writes an internal note on a THING", false],
  ["history", "Shows who changed a THING, and when", true],
];

/** 300 tools: ten for each of thirty systems. */
export const CATALOG: readonly ToolDraft[] = SYSTEMS.flatMap(([system, thing, about]) =>
  ACTIONS.map(([verb, does, reads]): ToolDraft => {
    const name = `${verb}_${thing.replaceAll(/[ -]/g, "_")}`;
    const described = does.replace("THINGS", `${thing}s`).replace("THING", thing);
    return {
      name,
      namespace: system,
      description: `${described}: ${about}.`,
      capabilities: [reads ? "read_data" : "write_data"],
      parameters: {
        type: "object",
        properties: {
          id: { type: "string", description: `Number of the ${thing}` },
          text: { type: "string", description: "Words, a reason or a note" },
        },
      },
    };
  }),
);
