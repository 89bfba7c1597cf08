import { join } from "node:path";
import { ROOT } from "../repo/project.ts";

/** True if `dist` was built from these sources, as `.ci/run` does before the tests. */
export const IS_BUILT: boolean = process.env["TOOLARSENAL_BUILT"] === "1";

/** The command line's program, for tests that start it: the built one if there is one, otherwise the sources, which Node runs as they are. */
export const MAIN: string = join(ROOT, IS_BUILT ? "dist/cli/main.js" : "src/cli/main.ts");
