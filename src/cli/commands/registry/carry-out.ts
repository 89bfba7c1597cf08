import { dirname, relative } from "node:path";
import { fixable } from "../../../errors/arsenal-error.ts";
import { commitServer } from "../../../registries/commit-server.ts";
import { refusedServer } from "../../../registries/entry/danger.ts";
import { checkAnswer, type ServerAnswers, type ServerInput } from "../../../registries/entry/inputs.ts";
import type { PreparedServer, ServerHome } from "../../../registries/prepare-server.ts";
import type { Input, Terminal } from "../../command.ts";
import { wrongInput } from "../../input.ts";
import { openQuestions, type Questions } from "../../terminal/questions.ts";
import { note } from "../../terminal/style.ts";
import { showTrial, toolChanges } from "./show-server.ts";

/** The result of adding or updating a server, for `--json`. */
export interface AddedServer {
  readonly name: string;
  readonly server: string;
  readonly version: string;
  readonly kind: string;
  readonly package: string;
  readonly checksum?: string;
  readonly tools: readonly string[];
  readonly changes?: readonly { readonly tool: string; readonly change: string }[];
  readonly needsSignIn?: true;
  readonly written: readonly string[];
}

/**
 * Asks for inputs, connects once, displays what the server offers, and writes the server to the configuration if the user confirms. If a step fails,
 * nothing is left behind.
 */
export async function carryOut(
  prepared: PreparedServer,
  home: ServerHome,
  { input, terminal, kept = {} }: { readonly input: Input; readonly terminal: Terminal; readonly kept?: ServerAnswers },
): Promise<AddedServer | undefined> {
  const questions = input.flags.has("yes") ? undefined : openQuestions(terminal);
  try {
    const given = { ...knownOf(prepared.inputs, kept), ...readInputs(input) };
    const answers = await askInputs(prepared.inputs, given, questions);
    if (!input.json) note(terminal, "Connecting once, to see what it offers…");
    const tried = await prepared.try(answers);
    if (!input.json) showTrial(prepared, tried, terminal);
    const [severe] = tried.severe;
    const isAccepted =
      severe === undefined ||
      (questions !== undefined && (await questions.confirm("The scanner found signs of an attack. Add it anyway?")));
    if (!isAccepted) {
      const dangers = tried.severe.map(({ subject, message, excerpt }) => ({
        field: subject,
        reason: `looks like an attack: ${message} ("${excerpt}")`,
      }));
      throw refusedServer(prepared.server.name, dangers);
    }
    const { installation, name, server } = prepared;
    const dryRun = input.flags.has("dry-run");
    const mayWrite =
      input.flags.has("yes") ||
      dryRun ||
      (await agreed(questions, `Write ${name} to ${relative(terminal.folder, home.config) || home.config}?`));
    if (!mayWrite) {
      await prepared.discard();
      return undefined;
    }
    const written = dryRun ? [] : await commitServer(prepared, tried, home);
    if (dryRun) await prepared.discard();
    return {
      name,
      server: server.name,
      version: server.version,
      kind: installation.kind,
      package: installation.label,
      ...(installation.checksum !== undefined && { checksum: installation.checksum }),
      tools: tried.trial.tools.map((tool) => tool.name),
      ...(prepared.before !== undefined && { changes: toolChanges(prepared, tried) }),
      ...(tried.trial.needsSignIn === true && { needsSignIn: true }),
      written: written
        .map((path) => relative(dirname(home.config), path) || path)
        .map((path) => path.replace(/^\.\.\/.*\//, "")),
    };
  } catch (error) {
    await prepared.discard();
    throw error;
  } finally {
    questions?.close();
  }
}

/** Without a keyboard, only --yes confirms. */
async function agreed(questions: Questions | undefined, question: string): Promise<boolean> {
  if (questions !== undefined) return questions.confirm(question);
  throw fixable("INPUT_INVALID", "Cannot ask for confirmation: there is no keyboard.", "Run it again with --yes.", {
    field: "--yes",
  });
}

/** Returns the answers for the previous version, for inputs that the new version still has. */
function knownOf(inputs: readonly ServerInput[], kept: ServerAnswers): ServerAnswers {
  return Object.fromEntries(Object.entries(kept).filter(([key]) => inputs.some((each) => each.key === key)));
}

/** Parses the values of `--input NAME=VALUE`. */
function readInputs(input: Input): ServerAnswers {
  const pairs = (input.repeated["input"] ?? []).map((text) => {
    const at = text.indexOf("=");
    if (at < 1)
      throw wrongInput("--input", text.slice(0, 40), "--input needs a name and a value.", "Write --input NAME=VALUE.");
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  return Object.fromEntries(pairs);
}

/** Asks for required inputs without a value. Secrets are not displayed while they are typed. */
async function askInputs(
  inputs: readonly ServerInput[],
  given: ServerAnswers,
  questions: Questions | undefined,
): Promise<ServerAnswers> {
  if (questions === undefined) return given;
  const answers: Record<string, string> = { ...given };
  for (const each of inputs) {
    if (answers[each.key] !== undefined || !(each.required || each.secret)) continue;
    const words = [each.description, each.choices?.join(" | "), each.placeholder && `for example ${each.placeholder}`];
    const about = words.filter((word) => word !== undefined && word !== "").join("; ");
    const fallback = each.default === undefined ? "" : ` [${each.default}]`;
    const optional = each.required ? "" : " (optional)";
    for (let attempt = 0; attempt < 3; attempt++) {
      const question = `${each.key}${about === "" ? "" : ` (${about})`}${optional}${fallback}: `;
      const answer = (await questions.ask(question, { hidden: each.secret }))?.trim();
      if (answer === undefined || answer === "") break;
      try {
        checkAnswer(each, answer);
        answers[each.key] = answer;
        break;
      } catch (error) {
        if (attempt === 2) throw error;
      }
    }
  }
  return answers;
}
