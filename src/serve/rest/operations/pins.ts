import { fixable } from "../../../errors/arsenal-error.ts";
import { PIN_STATES, type Pins } from "../../../guard/pins/pins.ts";
import { SEVERITIES } from "../../../guard/scan/finding.ts";
import { answer, type Operation, operationsOf, type RestContext, type RestResponse } from "../operation.ts";
import { choice, entry, flag, list, refined, string, strings, time } from "../../../tool/shape/shape.ts";
import { administrationOf } from "./administered.ts";

const operation = operationsOf({ tag: "Pins" });

const PIN = entry(
  "A tool of a server, its instructions (`NAME#instructions`) or its command (`NAME#command`), with its accepted and its current definition.",
  {
    id: string("The tool's id, or `NAME#instructions`."),
    ensemble: string("The server or document it belongs to."),
    state: choice(
      "What is changed or new cannot be called. `conflict`: accepted, but another process wrote another definition into the shared catalog.",
      PIN_STATES,
    ),
    hash: string("SHA-256 of the current definition."),
    diff: strings(
      "Lines: `-` for the accepted definition, `+` for the current one. Empty if the current one is accepted.",
    ),
    seenAt: time("When it entered this state."),
    acceptedBy: string("Who accepted it. Omitted if it was accepted at first sight, or is not accepted."),
    refusedBy: string("Who decided to keep refusing exactly this version. Omitted if it waits for a decision."),
    findings: list(
      "What the scanner found in it, worst first, if `findings` asks for it. Omitted if it is accepted, or definitions are not scanned.",
      entry(
        "A sign of an attack.",
        {
          rule: string("The rule: `injection.override`."),
          severity: choice("The severity.", SEVERITIES),
          message: string("The meaning of the finding."),
          path: string("The position: `parameters.properties.city.description`."),
          excerpt: string("The words, shortened."),
          hidden: string("The hidden text, if any."),
        },
        ["rule", "severity", "message", "excerpt"],
      ),
    ),
  },
  ["id", "ensemble", "state", "hash", "diff", "seenAt"],
);

const params = entry("", { id: string("The pin's id.") }, ["id"]);

const HASH = refined(
  string("The hash from the list, or at least its first 16 digits. Definitions that arrived later are not affected."),
  { pattern: "^[0-9a-f]{16,64}$" },
);

export const pinOperations: readonly Operation[] = [
  operation("listPins", "GET /pins", {
    summary: "List what servers offer, and what changed since it was accepted",
    role: "operator or approver",
    description: "An operator or approver of a tenant sees those of servers whose tools the tenant may use.",
    tenants: "own",
    query: entry("", {
      state: list("Only those in one of these states: `changed,new`.", choice("", PIN_STATES)),
      id: string("Only the pin with this id."),
      whole: flag("Show whole values in `diff`, not excerpts."),
      findings: flag("Scan what is not accepted, and show the findings."),
    }),
    answers: { 200: answer("By id.", { pins: list("By id.", PIN) }, ["pins"]) },
    async run({ query: { state: states, ...shown }, principal }, context) {
      const isSeen = await administrationOf(context).seenEnsembles(principal);
      const pins = (await context.arsenal.pins?.list({ states, ...shown })) ?? [];
      return { body: { pins: pins.filter(({ ensemble }) => isSeen(ensemble)) } };
    },
  }),
  operation("acceptPin", "POST /pins/{id}/accept", {
    role: "approver",
    tenants: "none",
    summary: "Accept a tool, or the instructions of a server, as it is now",
    params,
    body: entry("", {
      hash: HASH,
      confirmAnnotations: flag("Also trust its annotations, such as read-only, for exactly this definition."),
    }),
    answers: { 204: { description: "It can be called from now on." } },
    statuses: [404],
    run: ({ params: { id }, body, principal }, context) =>
      decide(id, context, (pins) => pins.accept(id, principal, body)),
  }),
  operation("refusePin", "POST /pins/{id}/refuse", {
    role: "approver",
    tenants: "none",
    summary: "Keep refusing a tool, or the instructions of a server, as it is now",
    description:
      "It stays blocked, and no longer waits for a decision. If its server changes it again, it waits again.",
    params,
    body: entry("", { hash: HASH }),
    answers: { 204: { description: "It stays blocked." } },
    statuses: [404],
    targets: ({ params: { id } }) => [id],
    run: ({ params: { id }, body, principal }, context) =>
      decide(id, context, (pins) => pins.refuse(id, principal, body)),
  }),
];

/** Applies a decision to a pin. Answers 404 if no pin has the id. */
async function decide(
  id: string,
  context: RestContext,
  decision: (pins: Pins) => Promise<void>,
): Promise<RestResponse> {
  administrationOf(context);
  const { pins } = context.arsenal;
  const known = pins === undefined ? [] : await pins.list({ id });
  try {
    if (pins !== undefined) {
      await decision(pins);
      return { status: 204 };
    }
  } catch (error) {
    if (known.length > 0) throw error;
  }
  const problem = "No server offers anything with this id.";
  const details = { field: "id", value: id };
  return { refused: fixable("INPUT_INVALID", problem, "List them with GET /api/v1/pins.", details), status: 404 };
}
