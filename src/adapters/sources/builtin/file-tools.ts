import { fixable } from "../../../errors/arsenal-error.ts";
import { createFileRoots } from "../../../guard/file-roots.ts";
import { createOwnFiles } from "../../../guard/own-files.ts";
import type { OfferedTool } from "../../../register/source.port.ts";
import { argumentsOf, asBase64, toContent } from "./tool-parts.ts";
import type { FileSettings } from "./settings.ts";

const MAX_BYTES = 1024 * 1024;
const ENCODING = { type: "string", enum: ["utf-8", "base64"], default: "utf-8" } as const;

/** Defines `file_read` and `file_write`, limited to the configured folders. Files in `ownFiles` are always refused. */
export function fileTools(
  settings: FileSettings = {},
  ownFiles: readonly string[] = [],
): { readonly read: OfferedTool; readonly write: OfferedTool } {
  const { roots: folders = [process.cwd()], maxBytes = MAX_BYTES } = settings;
  const roots = createFileRoots(folders, { isOwnFile: createOwnFiles(ownFiles) });
  return {
    read: {
      draft: {
        name: "file_read",
        sourceName: "file-read",
        description: "Read the contents of a file",
        examples: ["show me what is in config.yaml", "read the file notes.txt"],
        category: "file",
        parameters: argumentsOf(
          {
            path: { type: "string", description: "File path to read" },
            encoding: {
              ...ENCODING,
              description: "File encoding. A file that is not UTF-8 text is returned as base64",
            },
          },
          "path",
        ),
        capabilities: ["file_system", "read_data"],
        riskLevel: "medium",
        annotations: { readOnly: true, idempotent: true, openWorld: false },
        timeoutMs: 5_000,
      },
      async handler(args) {
        const { path, encoding } = args as { readonly path: string; readonly encoding?: string };
        const read = await roots.read(path, { maxBytes });
        const bytes = Buffer.from(read.bytes.buffer, read.bytes.byteOffset, read.bytes.byteLength);
        const content = encoding === "base64" ? asBase64(bytes) : toContent(bytes);
        return { path, ...content, bytes: bytes.length };
      },
    },
    write: {
      draft: {
        name: "file_write",
        sourceName: "file-write",
        description: "Write a file, replacing it if it exists",
        examples: ["save this text as report.md", "write the results to a file"],
        category: "file",
        parameters: argumentsOf(
          {
            path: { type: "string", description: "File path to write" },
            content: { type: "string", description: "The file's whole content" },
            encoding: { ...ENCODING, description: "How content is written: as text, or bytes in base64" },
          },
          "path",
          "content",
        ),
        capabilities: ["file_system", "write_data"],
        riskLevel: "high",
        annotations: { readOnly: false, openWorld: false },
        timeoutMs: 5_000,
      },
      async handler(args) {
        const { path, content, encoding } = args as { path: string; content: string; encoding?: string };
        const bytes = encoding === "base64" ? fromBase64(content) : Buffer.from(content, "utf8");
        const { created } = await roots.write(path, bytes, { maxBytes });
        return { path, bytes: bytes.length, created };
      },
    },
  };
}

/** Refuses characters that are not base64. Node skips them and would write a wrong file. */
function fromBase64(content: string): Buffer {
  const bytes = Buffer.from(content, "base64");
  const padding = /={0,2}$/;
  if (bytes.toString("base64").replace(padding, "") === content.replace(padding, "")) return bytes;
  const fix = "Encode the bytes as base64, or leave encoding out for text.";
  throw fixable("ARGUMENTS_INVALID", "content is not base64.", fix, { field: "content" });
}
