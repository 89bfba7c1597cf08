/** Whether an action only looks, changes something, or works on what it is given. */
export type ActionKind = "read" | "write" | "work";

/** The name of a group of verbs. */
export type VerbGroupName =
  | "list"
  | "get"
  | "find"
  | "check"
  | "count"
  | "compare"
  | "analyse"
  | "compute"
  | "convert"
  | "draw"
  | "generate"
  | "create"
  | "delete"
  | "cancel"
  | "update"
  | "rename"
  | "move"
  | "restore"
  | "send"
  | "invite"
  | "schedule"
  | "book"
  | "buy"
  | "follow"
  | "export"
  | "upload"
  | "approve"
  | "assign"
  | "tag"
  | "merge"
  | "run"
  | "deploy"
  | "pause"
  | "switch"
  | "grant"
  | "play"
  | "click"
  | "track"
  | "capture";

/** One kind of action, and the words people and tools have for it. */
interface VerbGroup {
  readonly kind: ActionKind;
  readonly verbs: string;
}

/**
 * Verbs that mean nearly the same in a request and in a tool's name. A verb stands in the group of its most frequent meaning; where it has
 * two, as `open` or `book`, the first group named here that lists it wins.
 */
const GROUPS: Readonly<Record<VerbGroupName, VerbGroup>> = {
  list: { kind: "read", verbs: "list enumerate browse index" },
  get: {
    kind: "read",
    verbs:
      "get show read view fetch retrieve see display tell describe load inspect pull print return grab know obtain give access details info status",
  },
  find: {
    kind: "read",
    verbs: "find search look query discover locate lookup filter match seek explore scan recommend suggest",
  },
  check: {
    kind: "read",
    verbs: "check verify validate test confirm ensure ping diagnose monitor audit lint review inspect",
  },
  count: { kind: "read", verbs: "count measure total" },
  compare: { kind: "read", verbs: "compare diff contrast" },
  analyse: {
    kind: "read",
    verbs:
      "analyze analyse evaluate assess explain summarize summarise examine profile interpret rate rank score study investigate",
  },
  compute: {
    kind: "work",
    verbs:
      "calculate compute solve estimate predict forecast simulate simplify multiply divide subtract sum integrate sqrt optimize optimise",
  },
  convert: {
    kind: "work",
    verbs:
      "convert burn translate transform format parse encode decode transcribe extract render compress resize crop transpose turn encrypt decrypt",
  },
  draw: { kind: "work", verbs: "draw plot chart visualize visualise paint sketch illustrate design imagine" },
  generate: { kind: "work", verbs: "generate compose draft write produce synthesize" },
  create: {
    kind: "write",
    verbs:
      "create add make new insert register build append place attach enter provision define record compose log put raise initialize init clone fork duplicate copy save store remember note jot keep file establish construct import ingest",
  },
  delete: {
    kind: "write",
    verbs:
      "delete remove drop erase clear purge discard wipe bin trash destroy uninstall unlink detach clean throw prune flush forget eliminate",
  },
  cancel: {
    kind: "write",
    verbs: "cancel abort revoke void withdraw rollback terminate kill stop halt end close quit",
  },
  update: {
    kind: "write",
    verbs:
      "update change edit modify set adjust replace fix correct alter patch configure rewrite refresh increase decrease raise lower extend shorten bump",
  },
  rename: { kind: "write", verbs: "rename retitle relabel" },
  move: { kind: "write", verbs: "move transfer migrate relocate shift drag carry reorder sort swap archive" },
  restore: {
    kind: "write",
    verbs: "restore recover unarchive undelete reopen reinstate undo revert reverse unban untag resubscribe",
  },
  send: {
    kind: "write",
    verbs:
      "send post share notify email mail message text tweet reply comment forward respond answer publish broadcast announce submit request dm ring call dial phone remind alert warn speak say",
  },
  invite: { kind: "write", verbs: "invite onboard enrol enroll" },
  schedule: { kind: "write", verbs: "schedule plan postpone reschedule delay snooze" },
  book: { kind: "write", verbs: "book reserve rsvp" },
  buy: {
    kind: "write",
    verbs:
      "claim spend redeem cash buy order purchase pay sell trade swap exchange deposit stake bid donate tip refund charge invoice transfer mint airdrop lend borrow withdraw renew checkout",
  },
  follow: {
    kind: "write",
    verbs:
      "follow subscribe watch star like upvote favourite favorite bookmark pin vote unfollow unsubscribe mute block unblock report flag",
  },
  export: { kind: "work", verbs: "export download backup dump" },
  upload: { kind: "write", verbs: "upload push sync load" },
  approve: { kind: "write", verbs: "approve accept reject decline deny sign authorize authorise confirm acknowledge" },
  assign: { kind: "write", verbs: "assign delegate allocate reassign" },
  tag: { kind: "write", verbs: "tag label mark categorize classify annotate tick complete finish check resolve" },
  merge: { kind: "write", verbs: "merge combine join concatenate split rebase squash commit" },
  run: {
    kind: "write",
    verbs:
      "retry rerun rescan retest train tune run execute start launch trigger invoke perform activate evaluate exec kick",
  },
  deploy: {
    kind: "write",
    verbs: "deploy release install publish host ship roll promote upgrade scale restart reboot boot",
  },
  pause: { kind: "write", verbs: "pause resume suspend freeze hold unpause skip" },
  switch: {
    kind: "write",
    verbs:
      "silence arm switch enable disable turn toggle lock unlock dim mute activate deactivate connect disconnect login logout authenticate",
  },
  grant: { kind: "write", verbs: "grant permit allow restrict ban kick protect" },
  play: { kind: "write", verbs: "play listen stream cast" },
  click: { kind: "write", verbs: "click press type hover tap scroll navigate open visit go drag select" },
  track: { kind: "read", verbs: "track follow trace" },
  capture: { kind: "work", verbs: "capture screenshot record scrape crawl snap photograph" },
};

/** Groups that stand in for each other: what one person calls creating, a tool calls uploading or sending. Reads all do. */
const RELATED: Readonly<Partial<Record<VerbGroupName, string>>> = {
  create: "upload send generate invite schedule book buy deploy",
  update: "rename tag move switch assign pause cancel restore create",
  delete: "cancel move",
  cancel: "delete update pause",
  rename: "update",
  send: "create buy",
  buy: "send move create",
  upload: "create send",
  export: "get convert capture",
  convert: "export generate",
  draw: "generate create convert",
  generate: "create draw convert compute",
  compute: "get analyse generate",
  run: "deploy click play",
  deploy: "run create update",
  pause: "cancel update switch play",
  switch: "update run",
  follow: "create tag",
  tag: "update create",
  move: "update send buy",
  restore: "update",
  schedule: "create update book send",
  book: "create schedule buy",
  invite: "create send grant",
  approve: "update send tag",
  assign: "update",
  merge: "update create",
  grant: "update create invite delete",
  play: "run switch pause",
  click: "run get",
  capture: "get create export",
};

/** Every group's name, in a fixed order. */
export const VERB_GROUPS: readonly VerbGroupName[] = Object.keys(GROUPS) as VerbGroupName[];

const GROUP_OF: ReadonlyMap<string, VerbGroupName> = new Map(
  VERB_GROUPS.toReversed().flatMap((group) => GROUPS[group].verbs.split(" ").map((verb) => [verb, group] as const)),
);

/** The group of a verb in its plain form; undefined for a word that is no known verb. */
export function verbGroupOf(verb: string): VerbGroupName | undefined {
  return GROUP_OF.get(verb);
}

/** Whether the actions of a group look, change or work. */
export function kindOf(group: VerbGroupName): ActionKind {
  return GROUPS[group].kind;
}

/** Groups that do and undo: the one is no answer to a request for the other. */
const OPPOSITES: readonly (readonly [VerbGroupName, VerbGroupName])[] = [
  ["create", "delete"],
  ["create", "restore"],
  ["delete", "restore"],
  ["cancel", "restore"],
  ["move", "restore"],
  ["upload", "export"],
  ["run", "cancel"],
  ["run", "pause"],
  ["tag", "delete"],
  ["follow", "delete"],
  ["invite", "delete"],
  ["book", "cancel"],
  ["buy", "cancel"],
  ["schedule", "cancel"],
  ["export", "restore"],
];

/** Whether one group undoes what the other does. */
export function areOpposed(asked: VerbGroupName, offered: VerbGroupName): boolean {
  return OPPOSITES.some(([a, b]) => (a === asked && b === offered) || (b === asked && a === offered));
}

const RELATIONS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(RELATED).map(([group, others]) => [group, new Set(others.split(" "))]),
);

/** Whether a tool of one group may well do what a request of the other asks for. */
export function areRelated(asked: VerbGroupName, offered: VerbGroupName): boolean {
  if (asked === offered || (kindOf(asked) === "read" && kindOf(offered) === "read")) return true;
  return RELATIONS.get(asked)?.has(offered) ?? false;
}
