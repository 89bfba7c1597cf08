import { createRequire } from "node:module";
import { createFileRegistry, type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { type DescriptorProto, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

const PACKAGE = "google.ai.generativelanguage.v1beta";
const FILE = "google/ai/generativelanguage/v1beta/content.proto";

/** The part of protobufjs that reads .proto files and writes what the compiler would. */
interface ProtobufJs {
  readonly Root: new () => {
    resolvePath: (origin: string, target: string) => string;
    load(file: string, options: object): Promise<unknown>;
    resolveAll(): void;
    toDescriptor(edition: string): object;
  };
}

interface DescriptorExtension {
  readonly FileDescriptorSet: { encode(set: object): { finish(): Uint8Array } };
}

/** Google's own description of a function declaration, from the .proto files it publishes. Needs test/peers. */
export async function functionDeclaration(): Promise<DescMessage> {
  const require = createRequire(new URL("../../peers/peers.ts", import.meta.url));
  const { Root } = require("protobufjs") as ProtobufJs;
  const { FileDescriptorSet } = require("protobufjs/ext/descriptor") as DescriptorExtension;
  const folder = require.resolve("google-proto-files/package.json").replace(/package\.json$/, "");
  const root = new Root();
  root.resolvePath = (_origin, target) => (target.startsWith("/") ? target : folder + target);
  await root.load(FILE, { keepCase: true });
  root.resolveAll();

  const set = fromBinary(FileDescriptorSetSchema, FileDescriptorSet.encode(root.toDescriptor("proto3")).finish());
  // Annotations for code generators say nothing about JSON, and what protobufjs writes for them is not valid.
  const values = ["Struct", "Value", "ListValue", "Duration", "Timestamp"];
  for (const file of set.file) {
    file.extension = [];
    if (file.package === "google.protobuf") {
      file.messageType = file.messageType.filter(({ name }) => values.includes(name));
      file.enumType = file.enumType.filter(({ name }) => name === "NullValue");
    }
  }
  set.file = set.file.filter((file) => ["google.protobuf", "google.type", PACKAGE].includes(file.package));
  set.file.sort((a, b) => rank(a.package) - rank(b.package));
  for (const [index, file] of set.file.entries()) file.dependency = set.file.slice(0, index).map(({ name }) => name);
  const known = new Set<string>();
  for (const file of set.file) {
    for (const each of file.messageType) collect(each, `.${file.package}`, known);
    for (const { name } of file.enumType) known.add(`.${file.package}.${name}`);
  }
  for (const file of set.file) for (const each of file.messageType) qualify(each, `.${file.package}`, known);
  const message = createFileRegistry(set).getMessage(`${PACKAGE}.FunctionDeclaration`);
  if (message === undefined) throw new Error(`${FILE} has no FunctionDeclaration`);
  return message;
}

function rank(name: string): number {
  return ["google.protobuf", "google.type", PACKAGE].indexOf(name);
}

function collect(message: DescriptorProto, scope: string, known: Set<string>): void {
  const name = `${scope}.${message.name}`;
  known.add(name);
  for (const inner of message.nestedType) collect(inner, name, known);
  for (const inner of message.enumType) known.add(`${name}.${inner.name}`);
}

/** protobufjs names types as the .proto file does, from the inside out, and leaves the names in JSON out; descriptors have both whole. */
function qualify(message: DescriptorProto, scope: string, known: ReadonlySet<string>): void {
  const name = `${scope}.${message.name}`;
  for (const field of message.field) {
    field.jsonName = field.name.replaceAll(/_(?<letter>[a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
    if (field.typeName === "" || field.typeName.startsWith(".")) continue;
    let within = name;
    while (within !== "" && !known.has(`${within}.${field.typeName}`))
      within = within.slice(0, within.lastIndexOf("."));
    field.typeName = `${within}.${field.typeName}`;
  }
  for (const inner of message.nestedType) qualify(inner, name, known);
}
