import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

/** A package registry of npm on loopback, for packages without dependencies. */
export interface NpmDouble {
  readonly url: string;
  /** Publishes a version. Publishing it again replaces its content, as no honest registry does. */
  publish(name: string, version: string, files: Readonly<Record<string, string>>): { readonly sha256: string };
  close(): Promise<void>;
}

export async function startNpm(): Promise<NpmDouble> {
  const packages = new Map<string, Map<string, Buffer>>();
  const http = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "/").slice(1);
    const [name = "", file] = path.split("/-/");
    const versions = packages.get(name);
    if (versions === undefined) return void response.writeHead(404).end("{}");
    if (file !== undefined) return void response.end(versions.get(file.replace(/\.tgz$/, "")));
    const described = [...versions].map(([version, tarball]) => {
      const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
      const shasum = createHash("sha1").update(tarball).digest("hex");
      const address = `${double.url}/${name.replace("/", "%2f")}/-/${version}.tgz`;
      return [version, { name, version, dist: { tarball: address, integrity, shasum } }] as const;
    });
    const latest = described.at(-1)?.[0];
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ name, "dist-tags": { latest }, versions: Object.fromEntries(described) }));
  });
  await new Promise<void>((resolve) => void http.listen(0, "127.0.0.1", resolve));
  const double: NpmDouble = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    publish(name, version, files) {
      const tarball = gzipSync(tar(Object.entries(files).map(([path, text]) => [`package/${path}`, text])));
      packages.set(name, (packages.get(name) ?? new Map<string, Buffer>()).set(version, tarball));
      return { sha256: createHash("sha256").update(tarball).digest("hex") };
    },
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => void http.close(resolve));
    },
  };
  return double;
}

/** A tar archive as npm reads it. */
function tar(files: readonly (readonly [path: string, text: string])[]): Buffer {
  const blocks = files.map(([path, text]) => {
    const content = Buffer.from(text);
    const header = Buffer.alloc(512);
    header.write(path, 0);
    header.write("0000755\0", 100);
    header.write("0000000\0", 108);
    header.write("0000000\0", 116);
    header.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124);
    header.write("00000000000\0", 136);
    header.write("        ", 148);
    header.write("0", 156);
    header.write("ustar\u000000", 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    return Buffer.concat([header, content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}
