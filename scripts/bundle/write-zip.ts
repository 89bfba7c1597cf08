import { crc32, deflateRawSync } from "node:zlib";

/** A file for an archive. */
export interface ZipInput {
  readonly name: string;
  readonly content: string | Uint8Array;
  /** Type and permissions as Unix has them. Defaults to those of a plain file. */
  readonly mode?: number;
  /** The size that the list of files announces. Defaults to the real one. */
  readonly announced?: number;
}

const PLAIN_FILE = 0o100644;
/** 1980-01-01, the earliest time that the format has, so that equal files give equal archives. */
const DATE = 0x00_21;

/** Writes a ZIP archive. */
export function writeZip(files: readonly ZipInput[]): Buffer {
  const parts: Buffer[] = [];
  const list: Buffer[] = [];
  let offset = 0;
  for (const { name, content, mode = PLAIN_FILE, announced } of files) {
    const bytes = Buffer.from(content as Uint8Array);
    const packed = deflateRawSync(bytes, { level: 9 });
    const path = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x08_00, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt16LE(DATE, 8);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(announced ?? bytes.length, 18);
    common.writeUInt16LE(path.length, 22);
    parts.push(number(0x04_03_4b_50), common, path, packed);
    const attributes = Buffer.alloc(14);
    attributes.writeUInt32LE((mode << 16) >>> 0, 6);
    attributes.writeUInt32LE(offset, 10);
    list.push(number(0x02_01_4b_50), Buffer.from([20, 3]), common, attributes, path);
    offset += 4 + common.length + path.length + packed.length;
  }
  const central = Buffer.concat(list);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, central, number(0x06_05_4b_50), end]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
