import { present } from "../../../tool/present.ts";
import { runProcess } from "../../sandboxes/subprocess/run-process.ts";
import type { Declaration, ReadScripts, ScriptProblem } from "./declaration.ts";
import { PYTHON_READER } from "./python-reader.ts";

/** Reads the functions of Python files with Python's own parser; `executable` is to run them with. The files are parsed, never run. */
export async function readPython(
  files: readonly string[],
  python: string,
  signal: AbortSignal,
): Promise<ReadScripts & { readonly executable: string }> {
  const { status, stdout, stderr } = await runProcess({
    sandbox: "subprocess",
    argv: [python, "-I", "-c", PYTHON_READER],
    // Launchers such as pyenv's find the interpreter by the environment. What runs here is our own program.
    env: present(process.env) as Record<string, string>,
    cwd: "/",
    input: JSON.stringify(files),
    limits: { timeoutMs: 20_000, outputBytes: 16 * 1024 * 1024 },
    signal,
  });
  if (status !== "ok") throw new Error(`${python} cannot read it: ${stderr.trim().split("\n").at(-1) ?? status}`);
  const { executable, tools, problems } = JSON.parse(stdout) as PythonAnswer;
  const declarations = tools.map((tool): Declaration => ({ ...tool, language: "python" }));
  return { executable, declarations, problems };
}

/** What the program prints. */
interface PythonAnswer {
  readonly executable: string;
  readonly tools: readonly Omit<Declaration, "language">[];
  readonly problems: readonly ScriptProblem[];
}
