import { fixable } from "../../../errors/arsenal-error.ts";
import { PIN_STATES } from "../../../guard/pins/pins.ts";
import { answer, type Operation, operationsOf } from "../operation.ts";
import { choice, entry, flag, list, refined, string, strings, time } from "../../../tool/shape/shape.ts";
import { administrationOf } from "./administered.ts";

const operation = operationsOf({ tag: "Pins" });

const PIN = entry(
  "A tool of a server, its instructions (`NAME#instructions`) or its command (`NAME#command`), as it was accepted and as it is now.",
  {
    id: string("The tool's id, or `NAME#instructions`."),
    ensemble: string("The server or document it belongs to."),
    state: choice(
      "What is changed or new cannot be called. `conflict`: accepted, but another process wrote another definition into the shared catalog.",
      PIN_STATES,
    ),
    hash: string("SHA-256 of what is there now."),
    diff: strings("Lines: `-` for what was accepted, `+` for what is there now. Empty if it is accepted."),
    seenAt: time("Since when it is in this state."),
    acceptedBy: string("Who accepted it. Omitted if it was accepted at first sight, or is not accepted."),
  },
  ["id", "ensemble", "state", "hash", "diff", "seenAt"],
);

/** Compares the offers of servers with the accepted ones. */
export const pinOperations: readonly Operation[] = [
  operation("listPins", "GET /pins", {
    summary: "List what servers offer, and what changed since it was accepted",
    role: "operator or approver",
    tenants: "all",
    query: entry("", { state: choice("Only those in this state.", PIN_STATES) }),
    answers: { 200: answer("By id.", { pins: list("By id.", PIN) }, ["pins"]) },
    async run({ query: { state } }, context) {
      administrationOf(context);
      const pins = (await context.arsenal.pins?.list()) ?? [];
      return { body: { pins: pins.filter((pin) => state === undefined || pin.state === state) } };
    },
  }),
  operation("acceptPin", "POST /pins/{id}/accept", {
    role: "approver",
    tenants: "none",
    summary: "Accept a tool, or the instructions of a server, as it is now",
    params: entry("", { id: string("The pin's id.") }, ["id"]),
    body: entry("", {
      hash: refined(
        string("The hash that the list showed, or its first 16 digits or more: what came after that is not accepted."),
        { pattern: "^[0-9a-f]{16,64}$" },
      ),
      confirmAnnotations: flag("Also trust its annotations, such as read-only, for exactly this definition."),
    }),
    answers: { 204: { description: "It can be called from now on." } },
    statuses: [404],
    async run({ params: { id }, body, principal }, context) {
      administrationOf(context);
      const { pins } = context.arsenal;
      const known = pins === undefined ? [] : await pins.list();
      try {
        await pins?.accept(id, principal, body);
        if (pins !== undefined) return { status: 204 };
      } catch (error) {
        if (known.some((pin) => pin.id === id)) throw error;
      }
      const problem = "Nothing with this id was offered by a server.";
      const details = { field: "id", value: id };
      return { refused: fixable("INPUT_INVALID", problem, "List them with GET /api/v1/pins.", details), status: 404 };
    },
  }),
];
