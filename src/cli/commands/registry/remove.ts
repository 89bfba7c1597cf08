import { fixable } from "../../../errors/arsenal-error.ts";
import { configuredServer, removeServer } from "../../../registries/commit-server.ts";
import type { Command } from "../../command.ts";
import { openQuestions } from "../../terminal/questions.ts";
import { openHome } from "./server-home.ts";

export const command: Command = {
  positionals: ["NAME"],
  options: {
    yes: { description: "Do not ask for confirmation" },
    purge: { description: "Also delete its env file with the secrets" },
  },
  examples: ["remove weather", "remove weather --purge --yes"],
  async run(input, terminal) {
    const [name = ""] = input.positionals;
    const { home } = await openHome(input, terminal);
    const found = await configuredServer(name, home);
    const questions = input.flags.has("yes") ? undefined : openQuestions(terminal);
    try {
      if (!input.flags.has("yes") && questions === undefined)
        throw fixable(
          "INPUT_INVALID",
          "Cannot ask for confirmation: there is no keyboard.",
          "Run it again with --yes.",
          { field: "--yes" },
        );
      if (
        questions !== undefined &&
        !(await questions.confirm(`Remove ${found.name} from ${found.section} in ${home.config}?`))
      ) {
        terminal.err.write("Nothing was changed.\n");
        return 1;
      }
    } finally {
      questions?.close();
    }
    const { section, envFile } = await removeServer(name, home, { purge: input.flags.has("purge") });
    if (input.json) terminal.out.write(`${JSON.stringify({ name, section, ...(envFile && { envFile }) })}\n`);
    else {
      terminal.err.write(`Removed ${name} from ${section}. All other content of the file stays.\n`);
      if (envFile !== undefined) terminal.err.write(`Its secrets stay in ${envFile}; --purge deletes them.\n`);
    }
    return 0;
  },
};
