/** What programs need to find their files, speak the user's language and know the terminal. None of it is a secret. */
const NEEDED: readonly string[] =
  process.platform === "win32"
    ? [
        "APPDATA",
        "COMSPEC",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "PATH",
        "PATHEXT",
        "PROCESSOR_ARCHITECTURE",
        "PROGRAMDATA",
        "PROGRAMFILES",
        "PROGRAMFILES(X86)",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "TMP",
        "USERNAME",
        "USERPROFILE",
        "WINDIR",
      ]
    : ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TMPDIR", "TEMP"];

/** A child's whole environment: what was declared for it, and of ours only what every program needs. */
export function childEnvironment(
  declared: Readonly<Record<string, string>> = {},
  ours: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of [...NEEDED, ...Object.keys(ours).filter((key) => key.startsWith("LC_"))]) {
    const value = ours[name];
    if (value !== undefined) environment[name] = value;
  }
  return { ...environment, ...declared };
}
