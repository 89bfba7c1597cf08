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
  const theirs = { OPENAI_API_KEY: "secret", NODE_OPTIONS: "--inspect", lc_all: "x" };
  expect(childEnvironment({}, undefined, { ...ours, ...theirs })).toEqual(ours);
});

it("hands on what a company's network needs, without the secrets of npm", () => {
  const network = {
    HTTPS_PROXY: "http://proxy.example:3128",
    no_proxy: ".example",
    NODE_EXTRA_CA_CERTS: "/etc/ca.pem",
    npm_config_registry: "https://npm.example",
  };
  const secrets = { npm_config__authToken: "npm_abcdefghijklmnopqrstuvwxyz0123456789" };
  expect(childEnvironment({}, undefined, { ...network, ...secrets })).toEqual(network);
});

it("hands on what is named, and of a pattern everything but secrets", () => {
  const ours = { MY_TOKEN: "a-secret-value-of-ours", APP_MODE: "fast", APP_PASSWORD: "hunter2hunter2", PATH: "/bin" };
  expect(childEnvironment({}, ["MY_TOKEN", "APP_*"], ours)).toEqual({ MY_TOKEN: ours.MY_TOKEN, APP_MODE: "fast" });
});

it("prefers what is declared for the child", () => {
  expect(childEnvironment({ PATH: "/opt/bin", TOKEN: "t" }, undefined, { PATH: "/bin" })).toEqual({
    PATH: "/opt/bin",
    TOKEN: "t",
  });
});
