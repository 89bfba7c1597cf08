import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
const TOOLS = { buildah: "buildah", mmdebstrap: "mmdebstrap", bwrap: "bubblewrap", setpriv: "util-linux" };
const NPM = "11.21.1";
const NODE_IMAGE = "localhost/node";
const DISTROLESS_IMAGE = "localhost/distroless";
const CA_BUNDLE = "/etc/ssl/certs/ca-certificates.crt";

/** An image's settings, as the Dockerfile declares them. */
export interface ImageSettings {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** The reason why images cannot be built here, with the command that fixes it; undefined if they can. */
export function missingTools(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const missing = Object.entries(TOOLS).filter(([name]) => !folders.some((folder) => existsSync(join(folder, name))));
  if (missing.length > 0) {
    const [programs, packages] = [0, 1].map((at) => missing.map((each) => each[at]).join(" "));
    return `Missing: ${programs}. Run as root: apt-get install --yes --no-install-recommends ${packages}`;
  }
  return process.getuid?.() === 0 ? undefined : "Building a base image needs root. Run: sudo npm run containers";
}

/** Runs a program to its end and returns its output. Throws with everything it printed if it fails. */
export function runTool(program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 256 * 2 ** 20,
  });
  if (error !== undefined) throw error;
  assert.equal(status, 0, `${program} ${args.join(" ")}\n${stdout}\n${stderr}`);
  return stdout;
}

/** Builds images in a folder of its own, which holds everything that buildah stores. */
export function createBuilder(folder: string) {
  const buildah = (...args: readonly string[]): string => {
    const storage = ["--root", join(folder, "storage"), "--runroot", join(folder, "run"), "--storage-driver", "vfs"];
    return runTool("buildah", ...storage, ...args);
  };

  function build(image: string, context: string, ...args: readonly string[]): void {
    buildah("bud", "--isolation", "chroot", "--format", "docker", "--tag", image, ...args, context);
  }

  /** The Node that this project is tested with; the npm registry has it. */
  function addNode(context: string): void {
    const binary = createRequire(import.meta.url)
      .resolve("node/package.json")
      .replace("package.json", "bin/node");
    copyFileSync(binary, join(context, "node"));
    copyFileSync(CA_BUNDLE, join(context, "ca-certificates.crt"));
  }

  return {
    buildah,

    /** Makes an image like node:24-trixie-slim: Debian with a shell, Node and npm. */
    buildNodeBase(): void {
      const context = join(folder, "node-base");
      mkdirSync(context);
      addNode(context);
      const tar = join(context, "debian.tar");
      runTool("mmdebstrap", "--quiet", "--variant=minbase", "--include=ca-certificates,libstdc++6", "trixie", tar);
      runTool("npm", "pack", "--silent", "--pack-destination", context, `npm@${NPM}`);
      writeFileSync(join(context, "npmrc"), `registry=${runTool("npm", "config", "get", "registry").trim()}\n`);
      const npm = "/usr/local/lib/node_modules/npm";
      const links = ["npm", "npx"].map((name) => `ln -s ${npm}/bin/${name}-cli.js /usr/local/bin/${name}`);
      const lines = [
        "FROM scratch",
        "ADD debian.tar /",
        "COPY node /usr/local/bin/node",
        `COPY ca-certificates.crt ${CA_BUNDLE}`,
        "COPY npmrc /usr/local/etc/npmrc",
        `ADD npm-${NPM}.tgz /usr/local/lib/node_modules/`,
        `RUN mv /usr/local/lib/node_modules/package ${npm} && ${links.join(" && ")}`,
        // Networks that intercept TLS have a certificate authority of their own, which the bundle contains.
        `ENV NODE_EXTRA_CA_CERTS=${CA_BUNDLE}`,
      ];
      writeFileSync(join(context, "Dockerfile"), `${lines.join("\n")}\n`);
      build(NODE_IMAGE, context);
    },

    /** Makes an image like distroless: the libraries that Node needs, and no shell. */
    buildDistrolessBase(): void {
      const context = join(folder, "distroless-base");
      mkdirSync(context);
      addNode(context);
      const tar = join(context, "debian.tar");
      runTool("mmdebstrap", "--quiet", "--variant=extract", "--include=base-files,libc6,libstdc++6", "trixie", tar);
      const lines = ["FROM scratch", "ADD debian.tar /", "COPY node /nodejs/bin/node", `COPY *.crt ${CA_BUNDLE}`];
      writeFileSync(join(context, "Dockerfile"), `${lines.join("\n")}\n`);
      build(DISTROLESS_IMAGE, context);
    },

    /** Builds a target of the Dockerfile in the root of the project, on the two bases. */
    buildProject(image: string, target: string): void {
      const bases = { NODE_IMAGE, DISTROLESS_IMAGE };
      const given = Object.entries(bases).flatMap(([name, base]) => ["--build-arg", `${name}=${base}`]);
      build(image, ROOT, "--target", target, ...given);
    },

    settingsOf(image: string): ImageSettings {
      const inspected = JSON.parse(buildah("inspect", "--type", "image", image)) as {
        readonly Docker: { readonly config: ImageSettings };
      };
      return inspected.Docker.config;
    },

    /** The sizes of an image's layers in bytes, from the base up: unpacked, and compressed as a registry sends them. */
    layersOf(image: string): readonly { readonly unpacked: number; readonly compressed: number }[] {
      const { Manifest: text } = JSON.parse(buildah("inspect", "--type", "image", image)) as { Manifest: string };
      const pushed = join(folder, "pushed", image.replaceAll("/", "-"));
      mkdirSync(pushed, { recursive: true });
      buildah("push", image, `dir:${pushed}`);
      const compressed = layerSizes(readFileSync(join(pushed, "manifest.json"), "utf8"));
      return layerSizes(text).map((unpacked, at) => ({ unpacked, compressed: compressed[at] ?? 0 }));
    },

    /** Copies an image's files into a folder. buildah's own folders are closed to everybody but root. */
    unpack(image: string, into: string): void {
      const container = buildah("from", "--pull-never", image).trim();
      runTool("cp", "--archive", buildah("mount", container).trim(), into);
      buildah("rm", container);
    },
  };
}

function layerSizes(manifest: string): readonly number[] {
  const { layers } = JSON.parse(manifest) as { readonly layers: readonly { readonly size: number }[] };
  return layers.map(({ size }) => size);
}
