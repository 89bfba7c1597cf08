import type { FoundServer } from "../prepare-server.ts";
import { installRemoteBundle } from "./bundle.ts";
import type { ServerOption } from "./choose.ts";
import { declaredRemote } from "./declared.ts";
import type { InstallContext, Installation } from "./installation.ts";
import { installNpm } from "./npm.ts";
import { installImage, installNuget, installPypi } from "./programs.ts";

/** Downloads and verifies one option of a server, without running any of it. */
export async function installOption(
  option: ServerOption,
  { entry }: FoundServer,
  context: InstallContext,
): Promise<Installation> {
  const { name } = entry.server;
  const { package: declared, remote } = option;
  if (remote !== undefined) {
    const { draft, inputs } = declaredRemote(remote);
    return { kind: "remote", label: remote.url ?? "", inputs, draft: () => draft, remarks: [] };
  }
  if (declared === undefined) throw new TypeError("An option has a package or an address.");
  switch (option.kind) {
    case "npm":
      return installNpm(declared, name, context);
    case "pypi":
      return installPypi(declared, name, context);
    case "oci":
      return installImage(declared, name, context);
    case "nuget":
      return installNuget(declared, name);
    default:
      return installRemoteBundle(declared, name, context);
  }
}
