import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

const OFF = "off";

/** Returns the user's cache folder, by the conventions of the platform. `TOOLARSENAL_CACHE` overrides it. */
export function cacheFolder(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  platform: string = process.platform,
): string {
  const { TOOLARSENAL_CACHE, XDG_CACHE_HOME, LOCALAPPDATA } = environment;
  if (TOOLARSENAL_CACHE && TOOLARSENAL_CACHE !== OFF) return TOOLARSENAL_CACHE;
  // The XDG specification requires programs to ignore a relative path.
  if (XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME)) return join(XDG_CACHE_HOME, "toolarsenal");
  if (platform === "win32") return join(LOCALAPPDATA || join(homedir(), "AppData", "Local"), "toolarsenal", "cache");
  if (platform === "darwin") return join(homedir(), "Library", "Caches", "toolarsenal");
  return join(homedir(), ".cache", "toolarsenal");
}

/** Returns the default cache of commands: the user's cache folder, or none with `TOOLARSENAL_CACHE=off`. */
export function defaultCache(
  environment: Readonly<Record<string, string | undefined>>,
  platform?: string,
): string | false {
  if (environment["TOOLARSENAL_CACHE"] === OFF) return false;
  try {
    return cacheFolder(environment, platform);
  } catch {
    return false; // the user has no home folder
  }
}
