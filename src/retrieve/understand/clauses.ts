import { wordSet, wordsOf } from "./words.ts";

/** Matches the end of a sentence or line. Numbers, "e.g." and file names do not end one. */
const SENTENCES = [
  /\n/u,
  /(?<=(?:[^\s.!?]{2}|\s\d)["”’)\]]?[.!?…]{1,3}["”’)\]]?)\s/u,
  /\s?[;—]\s/u,
  /,?\s(?:and\s|but\s)?(?:then|after\sthat|afterwards|finally)\b,?\s(?=\S+\s\S)/iu,
];
/** Words that join two wishes or two objects of one wish. A clause is split only if a wish follows. */
const JOINTS = /,?\s(?:and(?:\salso)?|plus|as\swell\sas|but)\s|,\s/giu;
const BULLET = /^(?:[-*•–]|\d{1,2}[.)])\s/u;
/** Runs of spaces would make the patterns above backtrack. */
const SPACES = /[^\S\n]+/gu;
/** A shorter part stays with the previous one, because it says too little on its own. */
const LEAST_WORDS = 3;

/** Splits a request into parts that may each ask for something, in order. Returns one part if it cannot be split. */
export function splitClauses(request: string): readonly string[] {
  let parts: readonly string[] = [request.replace(SPACES, " ")];
  for (const boundary of SENTENCES) parts = parts.flatMap((part) => part.trim().replace(BULLET, "").split(boundary));
  const clauses: string[] = [];
  for (const part of parts.flatMap(splitAtWishes)) {
    const text = part.trim();
    if (text === "") continue;
    const last = clauses.length - 1;
    if (wordsOf(text).length < LEAST_WORDS && last >= 0) clauses[last] = `${clauses[last]} ${text}`;
    else clauses.push(text);
  }
  return clauses;
}

/** The clauses of a request that asks for several things. They are searched in addition to its whole text. */
export interface Steps {
  /** Wishes first, then clauses that only give context, each in order. */
  readonly clauses: readonly string[];
  /** The number of wishes, which are the first clauses. Each should get its tool. */
  readonly wishes: number;
  /** The share of meaning that the best clause decides. */
  readonly share: number;
}

/** More clauses are not worth embedding. */
const MOST_CLAUSES = 12;
/** The whole text of a longer request is less specific. Each clause takes this share from it, up to the maximum. */
const SHARE_OF_CLAUSE = 0.125;
const MOST_SHARE = 0.5;

/** Returns the steps of a request; undefined if it asks for one thing, for which the whole text works best. */
export function stepsOf(request: string): Steps | undefined {
  const clauses = splitClauses(request);
  const wishes = clauses.filter(isWish);
  if (wishes.length < 2) return undefined;
  const chosen = [...wishes, ...clauses.filter((clause) => !isWish(clause))].slice(0, MOST_CLAUSES);
  return {
    clauses: chosen,
    wishes: Math.min(wishes.length, MOST_CLAUSES),
    share: Math.min(SHARE_OF_CLAUSE * chosen.length, MOST_SHARE),
  };
}

function splitAtWishes(sentence: string): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  for (const joint of sentence.matchAll(JOINTS)) {
    const next = joint.index + joint[0].length;
    if (!startsClause(sentence.slice(next))) continue;
    parts.push(sentence.slice(from, joint.index));
    from = next;
  }
  return [...parts, sentence.slice(from)];
}

/** Returns true if a clause is a command, a question, or a wish. "The queue feels slow." only gives context. */
export function isWish(clause: string): boolean {
  return isOrderOrQuestion(clause) || clause.trimEnd().endsWith("?") || WANTED.test(clause);
}

/** Returns true if a text starts like a wish, or with the person who wants something. The second of two joined clauses starts there. */
export function startsClause(text: string): boolean {
  return isOrderOrQuestion(text) || PEOPLE.test(text);
}

function isOrderOrQuestion(text: string): boolean {
  const words = wordsOf(text.slice(0, READ_LENGTH));
  const at = words.findIndex((word) => !LEAD_INS.has(word));
  const first = words[at] ?? "";
  return (ACTIONS.has(first) || QUESTIONS.has(first)) && words.length > at + 1;
}

/** The number of characters that decide how a clause starts. */
const READ_LENGTH = 80;

const PEOPLE = /^(?:i|we|you)\b/iu;

/** Words that people write before the actual request. */
const LEAD_INS = wordSet(
  "please pls also just so ok okay and but then next now first second third finally maybe hey hi lastly afterwards quickly actually oh to",
);

const QUESTIONS =
  wordSet(`what whats which who whos whom whose where wheres when whens why how hows is are am was were do does did has have can could would will
  should any anything`);

const WANTED =
  /\b(?:(?:can|could|would|will) (?:you|we|i|someone)|(?:i|we)(?: would|['’]d)?(?: also)? (?:need|want|wanna|like|love|wish|hope|prefer|must)|let me know|help me|please|let['’]?s)\b/iu;

const ACTIONS =
  wordSet(`abort accept activate add adjust aggregate analyse analyze animate answer append apply approve archive arrange ask assess assign attach
  authenticate back block book bookmark boot break bring browse build buy calculate call cancel capture change charge chart check choose
  clean clear click clone close collect combine comment commit compare compile complete compose compress compute configure confirm connect
  contact convert copy count crawl create crop cross cut deactivate debug decode decrypt define delete deploy describe detect determine
  diagnose disable disconnect discover display dispatch distribute dive divide do double download draft draw drop dump duplicate echo edit
  email empty enable encode encrypt end enrich ensure enter erase estimate evaluate examine execute expand explain explore export extract
  fetch figure fill filter find fire fix flag follow forecast format forward fund gather generate geocode get give go grab grant group
  hand handle have hide hit hook identify import include increase index inform insert inspect install invite invoke issue join keep kick
  kill label launch leave let limit link list load locate lock log look lookup make map mark match measure merge message mint modify
  monitor move mute name navigate note notify obtain offer open optimize order organize outline pass paste patch pause pay perform
  pick pin ping plan play plot point post predict prepare press print process promote provide publish pull purchase purge push put
  query queue quote raise rank reach read rebuild recommend reconnect record recover redeploy redo reduce refresh refund register
  reject release reload remember remind remove rename render renew repeat replace reply report request reschedule research reserve reset
  resize resolve respond restart restore resume retrieve return reverse revert review revoke rewrite roll rotate run save say scan
  schedule scrape screenshot search see select sell send separate set settle share ship show shut sign simulate skip solve sort spin split
  star start stop store stream submit subscribe suggest sum summarise summarize suspend swap switch sync tag take talk tell test text throw
  tidy toggle trace track trade train transcribe transfer translate trash trigger trim try tune turn unblock undo uninstall unlock
  unpin unsubscribe update upgrade upload upscale use validate verify view visit vote wait wake walk watch wipe withdraw wrap write zip zoom`);
