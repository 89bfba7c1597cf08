import type { ToolDraft } from "../../tool/draft.ts";

const VERBS = listed(`
  create, list, get, update, delete, search, export, import, sync, archive, share, approve, assign, merge,
  rotate, schedule, cancel, preview, validate, restore
`);
const OBJECTS = listed(`
  invoice, customer, ticket, branch, deployment, calendar event, message, spreadsheet, payment, contract,
  playlist, photo, sensor reading, backup, webhook, dashboard, certificate, product, shipment, recipe, flight,
  room, lead, survey, translation, firewall rule, database index, api key, log stream, container
`);
const PRODUCTS = listed(`
  acme, northwind, globex, initech, umbrella, hooli, stark, wayne, wonka, tyrell, cyberdyne, aperture, oscorp,
  soylent, vandelay, dunder, pied, massive, bluth, sterling
`);
const DETAILS = listed(`
  with its history, by identifier, in bulk, for one team, as a file, with filters, before a date,
  and notify its owner, in the background, with attachments, across regions, including drafts
`);

function listed(text: string): readonly string[] {
  return text.trim().split(/,\s+/);
}

/** Generates tools with names, texts and schemas of ordinary size. The same index always gives the same tool. */
export function syntheticTools(count: number, from = 0): readonly ToolDraft[] {
  return Array.from({ length: count }, (_, place) => {
    const index = from + place;
    const verb = VERBS[index % VERBS.length] ?? "";
    const object = OBJECTS[Math.floor(index / VERBS.length) % OBJECTS.length] ?? "";
    const product = PRODUCTS[Math.floor(index / (VERBS.length * OBJECTS.length)) % PRODUCTS.length] ?? "";
    const edition = Math.floor(index / (VERBS.length * OBJECTS.length * PRODUCTS.length));
    const detail = DETAILS[(index * 7) % DETAILS.length] ?? "";
    const key = object.replaceAll(" ", "_");
    return {
      name: `${verb}_${key}`,
      namespace: edition === 0 ? product : `${product}_${edition}`,
      description: `${verb[0]?.toUpperCase()}${verb.slice(1)} a ${object} in ${product} ${detail}. Use it when somebody asks to ${verb} a ${object} or to see what changed.`,
      parameters: {
        type: "object",
        properties: {
          [`${key}_id`]: { type: "string", description: `The ${object} to ${verb}` },
          limit: { type: "integer", description: "The most results to return" },
          note: { type: "string", description: `Why you ${verb} it` },
        },
        required: [`${key}_id`],
      },
      tags: [verb, object.split(" ")[0] ?? object],
    };
  });
}

/** Generates natural-language requests for these tools. The same index always gives the same request. */
export function syntheticQueries(count: number, from = 0): readonly string[] {
  return subjects(count, from).map(
    ({ verb, object, product }) =>
      `can you ${verb} the ${object} we talked about in ${product} and tell me what changed since last week`,
  );
}

/** Requests for one thing, in at most 32 tokens. */
export function shortRequests(count: number, from = 0): readonly string[] {
  return subjects(count, from).map(
    ({ verb, object, product }) =>
      `can you ${verb} the ${object} that the people at ${product} asked about before the review on Thursday`,
  );
}

/** Requests with additional context, in about 120 tokens. */
export function longRequests(count: number, from = 0): readonly string[] {
  return subjects(count, from).map(
    ({ verb, object, product }, index) =>
      `We have moved most of our work to ${product} this quarter, and the team is still getting used to it. Yesterday somebody noticed that the ` +
      `${object} from last week looks different from what our customer remembers, and nobody is sure who touched it or when. Could you ${verb} the ` +
      `${object} with number ${4000 + index}, please? It belongs to the north region, and its owner is on leave until Monday. Then check whether ` +
      `anything else from the same day needs the same treatment, because the auditors come on Friday. If something is unclear, tell me what you would ` +
      `need from us, in plain words and no more than a few lines.`,
  );
}

function subjects(count: number, from: number) {
  return Array.from({ length: count }, (_, index) => {
    const at = from + index;
    return {
      verb: VERBS[(at * 3) % VERBS.length] ?? "",
      object: OBJECTS[(at * 11) % OBJECTS.length] ?? "",
      // Shifts when verbs and objects repeat, so that hundreds of requests differ.
      product: PRODUCTS[(at * 5 + Math.floor(at / 60)) % PRODUCTS.length] ?? "",
    };
  });
}
