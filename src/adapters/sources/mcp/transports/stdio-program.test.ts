import { expect, it } from "vitest";
import { childEnvironment } from "./stdio-program.ts";

// because Windows needs other variables.
it.skipIf(process.platform === "win32")("hands on what every program needs, and nothing else of ours", () => {
  const ours = {
    PATH: "/bin",
    HOME: "/home/ada",
    USER: "ada",
    LOGNAME: "ada",
    SHELL: "/bin/sh",
    TERM: "dumb",
    LANG: "C.UTF-8",
    LC_ALL: "C",
    TMPDIR: "/scratch",
    TEMP: "/scratch",
  };
  expect(childEnvironment({}, { ...ours, OPENAI_API_KEY: "secret", NODE_OPTIONS: "--inspect", lc_all: "x" })).toEqual(
    ours,
  );
});

it("prefers what is declared for the child", () => {
  expect(childEnvironment({ PATH: "/opt/bin", TOKEN: "t" }, { PATH: "/bin" })).toEqual({
    PATH: "/opt/bin",
    TOKEN: "t",
  });
});
