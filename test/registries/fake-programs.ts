import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findProgram } from "../../src/system/find-program.ts";

const DIGEST = `sha256:${"ab".repeat(32)}`;

/**
 * A folder of programs that stand in for docker, uvx and dnx: they write down how they were called, and run a server of ours in place of the image
 * or the package. Node and the shell are the real ones.
 */
export async function fakePrograms(folder: string, names: readonly string[], server: string): Promise<string> {
  const bin = join(folder, "bin");
  await mkdir(bin, { recursive: true });
  for (const real of ["node", "sh", "env"]) await symlink(findProgram(real) ?? real, join(bin, real)).catch(() => {});
  for (const name of names) {
    const script = `#!/bin/sh
echo "\${0##*/} $*" >> ${join(folder, "called.log")}
case "$1" in
  version) echo 27.0.0 ;;
  pull) ;;
  image) echo '["ghcr.io/team/calendar@${DIGEST}"]' ;;
  *) exec node ${server} ;;
esac
`;
    await writeFile(join(bin, name), script);
    await chmod(join(bin, name), 0o755);
  }
  return bin;
}
