import type { Surroundings } from "../../../adapters/surroundings.ts";
import type { ResolvedConfig } from "../../../config/load/resolve-config.ts";
import { configuredEngine } from "../../../wire/parts.ts";
import { pinMode } from "../../../wire/guard.ts";
import { count, messageOf } from "../../../errors/show-value.ts";
import { createPins } from "../../../guard/pins/create-pins.ts";
import type { Pin } from "../../../guard/pins/pins.ts";
import { localOperator } from "../../../guard/principal.ts";
import { systemClock } from "../../../observe/clock.ts";
import type { Tool } from "../../../tool/tool.ts";
import type { Command, Input, Terminal } from "../../command.ts";
import { withKeptState } from "../../arsenal/kept-state.ts";
import { wrongInput } from "../../input.ts";
import { clip, note, table } from "../../terminal/style.ts";

export const command: Command = {
  actions: {
    list: { summary: "List tools and server instructions, and mark new or changed ones" },
    accept: { summary: "Accept a tool, or the instructions of a server", positionals: ["[ID]"] },
  },
  options: {
    diff: { description: "For list: show what changed" },
    all: {
      description: "For accept: accept everything that is new or changed, except versions that a person has refused",
    },
    hash: { value: "HASH", description: "For accept: accept only if the hash is still the one that list showed" },
    "confirm-annotations": { description: "For accept: also trust the tool's annotations, such as read-only" },
  },
  examples: ["pins list --diff", "pins accept files.read_file", "pins accept --all"],
  async run(input, terminal) {
    const [action = "", id] = input.positionals;
    const { hash } = input.options;
    const all = input.flags.has("all");
    const confirmAnnotations = input.flags.has("confirm-annotations");
    if (action === "accept" && (id === undefined) === !all)
      throw wrongInput(
        "ID",
        id,
        '"pins accept" needs either an ID or --all.',
        "Take an id from: toolarsenal pins list",
      );
    return withKeptState("Pins", input, terminal, async ({ config, states: [state], surroundings, emit }) => {
      const { documents, changes } = state;
      const mode = pinMode(config) === "all" ? "all" : "changes";
      await using catalog = await openCatalog(config, surroundings, terminal);
      const { held } = catalog;
      const book = createPins({ state: documents, changes, clock: systemClock, emit, mode, held });
      const listed = await book.list();
      if (action === "list") return show(listed, { isOff: pinMode(config) === "off", input, terminal });
      const meant = all ? listed.filter(waits) : [{ id: id ?? "", hash }];
      for (const each of meant) {
        const seen = each.hash !== undefined && { hash: each.hash };
        await book.accept(each.id, localOperator(), { ...seen, confirmAnnotations });
        if (!input.json) terminal.err.write(`Accepted ${each.id}.\n`);
      }
      if (input.json) terminal.out.write(`${JSON.stringify({ accepted: meant.map((each) => each.id) })}\n`);
      else if (meant.length === 0) terminal.err.write("Nothing to accept.\n");
    });
  },
};

function show(
  listed: readonly Pin[],
  { isOff, input, terminal }: { readonly isOff: boolean; readonly input: Input; readonly terminal: Terminal },
): void {
  if (input.json) {
    terminal.out.write(`${JSON.stringify(listed, undefined, 2)}\n`);
    return;
  }
  const rows = listed.map((pin) => [
    clip(pin.id, 100),
    pin.state,
    pin.hash.slice(0, 16),
    `since ${new Date(pin.seenAt).toISOString()}`,
    deciderOf(pin),
  ]);
  const lines = rows.length === 0 ? [] : table(rows).split("\n");
  for (const [index, line] of lines.entries()) {
    terminal.out.write(`${line}\n`);
    for (const change of input.flags.has("diff") ? (listed[index]?.diff ?? []) : [])
      terminal.out.write(`    ${change}\n`);
  }
  const waiting = listed.filter(waits).length;
  const conflicts = listed.filter(({ state }) => state === "conflict").length;
  const hint = isOff
    ? ". security.pins is off, so every tool is used as its server offers it"
    : ". They appear once `toolarsenal serve` or `toolarsenal list` has connected to your servers";
  note(terminal, `${count(listed.length, "pin")}, ${waiting} to be accepted${listed.length === 0 ? hint : ""}`);
  if (conflicts > 0)
    note(
      terminal,
      `${count(conflicts, "tool")} in conflict: the catalog holds another definition. Reload the server to write its own again`,
    );
}

function deciderOf({ acceptedBy, refusedBy }: Pin): string {
  if (refusedBy !== undefined) return `refused by ${clip(refusedBy, 40)}`;
  return acceptedBy === undefined ? "" : `by ${clip(acceptedBy, 40)}`;
}

function waits({ state, refusedBy }: Pin): boolean {
  return (state === "changed" || state === "new") && refusedBy === undefined;
}

interface OpenCatalog extends AsyncDisposable {
  readonly held?: (ids: readonly string[]) => Promise<readonly Tool[]>;
}

/** Opens the catalog to read its tools if processes share it. Without the catalog, pins can still be listed and accepted. */
async function openCatalog(
  config: ResolvedConfig,
  surroundings: Surroundings,
  terminal: Terminal,
): Promise<OpenCatalog> {
  if (config.vectorStore.type === "memory") return { [Symbol.asyncDispose]: async () => {} };
  const engine = configuredEngine(config, {}, surroundings);
  const close = { [Symbol.asyncDispose]: () => engine.close() };
  try {
    await engine.open();
    return { ...close, held: (ids) => engine.get(ids) };
  } catch (error) {
    note(terminal, `The catalog cannot be read and is not compared: ${messageOf(error)}`);
    return close;
  }
}
