import { crc32, inflateRawSync } from "node:zlib";
import { count, showValue } from "../../errors/show-value.ts";
import { refusedServer } from "../entry/danger.ts";

export interface ZipFile {
  /** Relative path inside the archive, with `/`. */
  readonly name: string;
  readonly size: number;
  readonly isExecutable: boolean;
  /** Decompresses the file. Throws SERVER_REFUSED if the file is damaged or longer than declared. */
  read(): Buffer;
}

export interface ZipLimits {
  readonly maxFiles: number;
  /** Decompressed size of all files together, in bytes. */
  readonly maxBytes: number;
}

const END = 0x06_05_4b_50;
const CENTRAL = 0x02_01_4b_50;
const LOCAL = 0x04_03_4b_50;
const END_LENGTH = 22;
const UNIX = 3;
const [TYPE_MASK, LINK, FOLDER, REGULAR] = [0o170000, 0o120000, 0o040000, 0o100000] as const;
const [STORED, DEFLATED] = [0, 8] as const;

/** Markers around a signature that follows the archive. */
const [SIGNATURE_START, SIGNATURE_END] = ["MCPB_SIG_V1", "MCPB_SIG_END"] as const;

/**
 * Reads the list of files of a ZIP archive, strictly. Throws SERVER_REFUSED for names that leave the archive, links, encryption, overlaps,
 * duplicates, and more data than the limits allow. Folders are left out, because they follow from the names.
 */
export function readZip(given: Buffer, limits: ZipLimits): readonly ZipFile[] {
  const bytes = withoutSignature(given);
  const end = endOf(bytes, given.length);
  const entries = bytes.readUInt16LE(end + 10);
  const size = bytes.readUInt32LE(end + 12);
  const start = bytes.readUInt32LE(end + 16);
  if (bytes.readUInt32LE(end + 4) !== 0 || bytes.readUInt16LE(end + 8) !== entries) refuse("spans several disks");
  if (entries === 0xff_ff || start + size !== end) refuse("has a damaged or ambiguous list of files");
  if (entries > limits.maxFiles) refuse(`has ${count(entries, "file")}, more than ${limits.maxFiles}`);
  const files: ZipFile[] = [];
  const spans: (readonly [from: number, to: number])[] = [];
  const seen = new Map<string, string>();
  let total = 0;
  let at = start;
  for (let index = 0; index < entries; index++) {
    if (at + 46 > end || bytes.readUInt32LE(at) !== CENTRAL) refuse("has a damaged list of files");
    const header = readHeader(bytes, at);
    at = header.next;
    const name = checkedName(header.name);
    const type = header.madeBy === UNIX ? header.mode & TYPE_MASK : 0;
    const isFolder = name.endsWith("/");
    if (type === LINK) refuse(`contains the link ${showValue(name)}`);
    if (type !== 0 && type !== (isFolder ? FOLDER : REGULAR))
      refuse(`contains ${showValue(name)}, which is not a file`);
    if ((header.flags & 1) !== 0) refuse(`contains the encrypted file ${showValue(name)}`);
    if (header.method !== STORED && header.method !== DEFLATED)
      refuse(`compresses ${showValue(name)} in an unknown way`);
    claim(name, seen);
    total += header.size;
    if (total > limits.maxBytes) refuse(`unpacks to more than ${Math.floor(limits.maxBytes / 1024 / 1024)} MiB`);
    const data = dataOf(bytes, header, start);
    spans.push([header.offset, data + header.packedSize]);
    if (isFolder) continue;
    files.push({
      name,
      size: header.size,
      isExecutable: type === REGULAR && (header.mode & 0o100) !== 0,
      read: () => unpack(bytes.subarray(data, data + header.packedSize), header),
    });
  }
  if (at !== end) refuse("has a damaged list of files");
  const ordered = spans.sort(([one], [other]) => one - other);
  // Overlapping files would make a small archive unpack to a huge one.
  if (ordered.some(([from], index) => index > 0 && from < (ordered[index - 1]?.[1] ?? 0)))
    refuse("has overlapping files");
  return files;
}

type Header = ReturnType<typeof readHeader>;

function readHeader(bytes: Buffer, at: number) {
  const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset)) as [
    number,
    number,
    number,
  ];
  return {
    madeBy: bytes.readUInt16LE(at + 4) >> 8,
    flags: bytes.readUInt16LE(at + 8),
    method: bytes.readUInt16LE(at + 10),
    crc: bytes.readUInt32LE(at + 16),
    packedSize: bytes.readUInt32LE(at + 20),
    size: bytes.readUInt32LE(at + 24),
    mode: bytes.readUInt32LE(at + 38) >>> 16,
    offset: bytes.readUInt32LE(at + 42),
    name: bytes.subarray(at + 46, at + 46 + nameLength),
    next: at + 46 + nameLength + extraLength + commentLength,
  };
}

/** Returns the position of a file's data. The file's own header must agree with the list. */
function dataOf(bytes: Buffer, { offset, name, method, packedSize }: Header, end: number): number {
  const isInside = offset + 30 <= end && bytes.readUInt32LE(offset) === LOCAL;
  if (!isInside) refuse(`has no data for ${showValue(name.toString("latin1"))}`);
  const nameLength = bytes.readUInt16LE(offset + 26);
  const data = offset + 30 + nameLength + bytes.readUInt16LE(offset + 28);
  const isSame =
    bytes.subarray(offset + 30, offset + 30 + nameLength).equals(name) && bytes.readUInt16LE(offset + 8) === method;
  if (!isSame || data + packedSize > end) refuse(`describes ${showValue(name.toString("latin1"))} in two ways`);
  return data;
}

function unpack(packed: Buffer, { method, size, crc, name }: Header): Buffer {
  const shown = showValue(name.toString("latin1"));
  let content: Buffer;
  try {
    content = method === STORED ? packed : inflateRawSync(packed, { maxOutputLength: Math.max(1, size) });
  } catch {
    return refuse(`has damaged data, or more than announced, in ${shown}`);
  }
  if (content.length !== size || crc32(content) !== crc) refuse(`has damaged data in ${shown}`);
  return content;
}

/** Returns the position of the end record. Its comment must end exactly where the archive ends, or where the signature begins. */
function endOf(bytes: Buffer, whole: number): number {
  const lowest = Math.max(0, bytes.length - END_LENGTH - 0xff_ff);
  for (let at = bytes.length - END_LENGTH; at >= lowest; at--)
    if (bytes.readUInt32LE(at) === END) {
      const after = at + END_LENGTH + bytes.readUInt16LE(at + 20);
      if (after === bytes.length || (after === whole && at + END_LENGTH === bytes.length)) return at;
    }
  return refuse("is not a ZIP archive");
}

/** Returns whether a signature follows the archive. The signature is not verified. */
export function isSigned(bytes: Buffer): boolean {
  return withoutSignature(bytes) !== bytes;
}

function withoutSignature(bytes: Buffer): Buffer {
  if (!bytes.subarray(-SIGNATURE_END.length).equals(Buffer.from(SIGNATURE_END))) return bytes;
  const start = bytes.lastIndexOf(SIGNATURE_START);
  return start === -1 ? bytes : bytes.subarray(0, start);
}

const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

function checkedName(raw: Buffer): string {
  let name = "";
  try {
    name = new TextDecoder("utf-8", { fatal: true }).decode(raw).normalize("NFC");
  } catch {
    refuse(`contains a file whose name is not UTF-8: ${showValue(raw.toString("latin1"))}`);
  }
  const parts = name.replace(/\/$/, "").split("/");
  const isBad = (part: string): boolean =>
    // A segment that ends in a dot may refer to the folder itself or its parent.
    part === "" || part.length > 255 || /[. ]$/.test(part) || RESERVED.test(part);
  // oxlint-disable-next-line no-control-regex -- control characters are looked for
  if (name.length > 1024 || /[\u0000-\u001f\u007f\\:*?"<>|]/.test(name) || parts.some(isBad))
    refuse(`contains the unsafe file name ${showValue(name)}`);
  return name;
}

/** Refuses names that a system may treat as equal: a later file could replace an earlier one. Also refuses a file with the name of a folder. */
function claim(name: string, seen: Map<string, string>): void {
  const folded = name.toLowerCase();
  const parts = folded.replace(/\/$/, "").split("/");
  for (let length = 1; length < parts.length; length++) {
    const folder = parts.slice(0, length).join("/");
    if (seen.get(folder) === "file") refuse(`uses ${showValue(folder)} as a file and a folder`);
    seen.set(folder, "folder");
  }
  const own = parts.join("/");
  const kind = folded.endsWith("/") ? "folder" : "file";
  const before = seen.get(own);
  if (before !== undefined && !(before === "folder" && kind === "folder")) refuse(`contains ${showValue(name)} twice`);
  seen.set(own, kind);
}

function refuse(reason: string): never {
  throw refusedServer("The bundle", [{ field: "bundle", reason }]);
}
