import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import type { Emit, EventMap } from "../../observe/events.ts";
import { createManualClock, type ManualClock } from "../../testing/manual-clock.ts";
import type { PendingApproval } from "../aegis.ts";
import { type ApprovalWebhook, type ApprovalWebhookOptions, createApprovalWebhook } from "./approval-webhook.ts";
import { withinDomains } from "../egress/domain-bound.ts";
import { createEgress, type Egress } from "../egress/egress.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const waiting: PendingApproval = {
  id: "0f4c",
  toolId: "billing.refund_user",
  arguments: { amount: 5 },
  requestedBy: "agent",
  reason: "Refunds need a second pair of eyes.",
  state: "pending",
  requestedAt: 1_700_000_000_000,
  expiresAt: 1_700_000_600_000,
};
const event = { id: "0f4c", toolId: "billing.refund_user", principal: "agent", reason: waiting.reason };

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly url: string | undefined;
  readonly body: string;
}

let server: Server;
let egress: Egress;
let clock: ManualClock;
/** Waits that keep the process alive. */
let foreground: number[];
let waits: Map<number, PromiseWithResolvers<void>>;
let webhook: ApprovalWebhook | undefined;
/** What the receiver answers, one a request; 204 once they are used up. "hang" never answers. */
let answers: (number | "hang")[];
let received: Received[];
let failures: EventMap["sink-failed"][];
let failed: PromiseWithResolvers<void>;
let arrivals: PromiseWithResolvers<void>[];

beforeEach(async () => {
  [answers, received, failures, arrivals, foreground] = [[], [], [], [], []];
  failed = Promise.withResolvers();
  const manual = createManualClock(1_700_000_000_999);
  waits = new Map();
  clock = {
    now: manual.now,
    advance: manual.advance,
    get pending() {
      return manual.pending;
    },
    after(ms, callback, options) {
      if (options?.background !== true) foreground.push(ms);
      waitsFor(ms).resolve();
      return manual.after(ms, callback);
    },
  };
  egress = createEgress();
  server = createServer(async (request, response) => {
    const status = answers.shift() ?? 204;
    received.push({ headers: request.headers, url: request.url, body: await text(request) });
    if (status !== "hang") {
      response.writeHead(status, status === 302 ? { location: "/elsewhere" } : {}).end();
      await once(response, "close");
    }
    arrival(received.length - 1).resolve();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
});

afterEach(async () => {
  await webhook?.close();
  egress.close();
  server.closeAllConnections();
  server.close();
});

function arrival(index: number): PromiseWithResolvers<void> {
  return (arrivals[index] ??= Promise.withResolvers());
}

/** Resolves when the receiver has answered that many requests. */
const arrived = (count: number): Promise<void> => arrival(count - 1).promise;

function create(options: Partial<ApprovalWebhookOptions> = {}): Emit {
  const emit: Emit = (name, data) => {
    if (name !== "sink-failed") return;
    failures.push(data as EventMap["sink-failed"]);
    failed.resolve();
  };
  webhook = createApprovalWebhook({
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/T0KEN`),
    find: async () => waiting,
    describe: () => ({ sha256: "abc", shape: { amount: "number" } }),
    egress,
    clock,
    emit,
    ...options,
  });
  return webhook.watching(() => {});
}

/** Resolves when somebody waits for so long: an attempt has failed, and the wait before the next has begun. */
function waitsFor(ms: number): PromiseWithResolvers<void> {
  const known = waits.get(ms) ?? Promise.withResolvers<void>();
  waits.set(ms, known);
  return known;
}

/** Lets the wait before the next attempt pass, and the attempt end. */
async function advanceUntil(count: number, ms: number): Promise<void> {
  await waitsFor(ms).promise;
  await clock.advance(ms);
  await arrived(count);
}

describe("the approval webhook", () => {
  it("is told who asked for what, why, until when, and of the arguments their hash and shape", async () => {
    create()("confirmation-requested", event);
    await arrived(1);
    expect(received[0]?.url).toBe("/hook/T0KEN");
    expect(received[0]?.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(received[0]?.body ?? "")).toEqual({
      id: "0f4c",
      toolId: "billing.refund_user",
      arguments: { sha256: "abc", shape: { amount: "number" } },
      requestedBy: "agent",
      reason: "Refunds need a second pair of eyes.",
      requestedAt: 1_700_000_000_000,
      expiresAt: 1_700_000_600_000,
    });
  });

  it("can check with the secret that it was told by us, and when", async () => {
    create({ secret: async () => SECRET })("confirmation-requested", event);
    await arrived(1);
    const { headers, body } = received[0] as Received;
    expect(headers["x-toolarsenal-timestamp"]).toBe("1700000000");
    const expected = createHmac("sha256", SECRET).update(`1700000000.${body}`).digest("hex");
    expect(headers["x-toolarsenal-signature"]).toBe(`sha256=${expected}`);
  });

  it("gets no signature where there is no secret", async () => {
    create()("confirmation-requested", event);
    await arrived(1);
    expect(received[0]?.headers).not.toHaveProperty("x-toolarsenal-signature");
  });

  it("shows what hides in a text", async () => {
    create({ find: async () => ({ ...waiting, reason: "a\u202Eb" }) })("confirmation-requested", event);
    await arrived(1);
    expect(received[0]?.body).toContain(String.raw`"a\u202eb"`);
  });

  it("hears of nothing else", async () => {
    const emit = create();
    emit("confirmation-resolved", { id: "0f4c", toolId: "t", outcome: "approved" });
    emit("confirmation-requested", event);
    await arrived(1);
    await webhook?.close();
    expect(received).toHaveLength(1);
  });

  it("is asked again after 1, 4 and 16 seconds where it fails, with the time of each attempt", async () => {
    answers = [408, 429, 500];
    create()("confirmation-requested", event);
    await arrived(1);
    await advanceUntil(2, 1_000);
    await advanceUntil(3, 4_000);
    await advanceUntil(4, 16_000);
    expect(received.map(({ headers }) => headers["x-toolarsenal-timestamp"])).toEqual([
      "1700000000",
      "1700000001",
      "1700000005",
      "1700000021",
    ]);
    await webhook?.close();
    expect(failures).toEqual([]);
  });

  it("that goes on failing is an event, which does not tell the address's secret part", async () => {
    answers = [500, 500, 500, 500, 500];
    create()("confirmation-requested", event);
    await arrived(1);
    await advanceUntil(2, 1_000);
    await advanceUntil(3, 4_000);
    await advanceUntil(4, 16_000);
    await failed.promise;
    expect(failures).toEqual([
      {
        sink: "approval-webhook",
        message: expect.stringMatching(
          /^The approval webhook at 127\.0\.0\.1:\d+ was not notified that billing\.refund_user waits as 0f4c: it answered 500 \(attempt 4 of 4\)\.$/,
        ) as string,
        dropped: 1,
      },
    ]);
    expect(received).toHaveLength(4);
  });

  it.each([
    ["/hook/T0KEN?key=T0KEN", "http://hooks.example/…"],
    ["/", "http://hooks.example/"],
  ])("that may not be reached, at %s, is an event at once, which tells no secret part either", async (path, shown) => {
    egress.close();
    const key = "A".repeat(43);
    egress = createEgress({ certificatePins: { "hooks.example": `sha256/${key}=` } });
    create({ url: new URL(`http://hooks.example${path}`) })("confirmation-requested", event);
    await failed.promise;
    expect(failures[0]?.message).toBe(
      `The approval webhook at hooks.example was not notified that billing.refund_user waits as 0f4c: A request to ${shown} is refused: its certificate is pinned, but plain http has none. Use its https address. (attempt 1 of 4).`,
    );
  });

  it.each([200, 299])("that answers %d was told", async (status) => {
    answers = [status];
    create()("confirmation-requested", event);
    await arrived(1);
    await webhook?.close();
    expect(failures).toEqual([]);
    expect(received).toHaveLength(1);
  });

  it("whose secret is not configured is not asked again", async () => {
    const secret = (): Promise<string> => Promise.reject(new ArsenalError("CONFIG_INVALID", "There is no such secret"));
    create({ secret })("confirmation-requested", event);
    await failed.promise;
    expect(failures[0]?.message).toContain("waits as 0f4c: There is no such secret (attempt 1 of 4).");
    expect(received).toEqual([]);
  });

  it.each([300, 302, 400, 404])("that answers %d is not asked again, and no redirect is followed", async (status) => {
    answers = [status];
    create()("confirmation-requested", event);
    await failed.promise;
    expect(failures[0]?.message).toContain(`it answered ${status} (attempt 1 of 4)`);
    expect(received).toHaveLength(1);
  });

  it("that hangs is given ten seconds", async () => {
    answers = ["hang"];
    create()("confirmation-requested", event);
    await arrived(1);
    await clock.advance(10_000);
    await advanceUntil(2, 1_000);
    expect(received).toHaveLength(2);
  });

  it("that hangs each time is an event that says so", async () => {
    create({ find: () => new Promise(() => {}) })("confirmation-requested", event);
    await clock.advance(10_000 + 1_000 + 10_000 + 4_000 + 10_000 + 16_000 + 10_000);
    expect(failures[0]?.message).toContain("no answer within 10 s (attempt 4 of 4).");
  });

  it("keeps no process alive while it is told, and leaves no timer behind", async () => {
    answers = [500];
    create()("confirmation-requested", event);
    await arrived(1);
    await advanceUntil(2, 1_000);
    expect(foreground).toEqual([]);
    await webhook?.close();
    expect(clock.pending).toBe(0);
  });

  it("that cannot be reached is tried again", async () => {
    const emit = create({ url: new URL("http://127.0.0.1:1/hook") });
    emit("confirmation-requested", event);
    for (const pause of [1_000, 4_000, 16_000]) {
      await waitsFor(pause).promise;
      await clock.advance(pause);
    }
    await failed.promise;
    expect(failures[0]?.message).toContain("ECONNREFUSED");
  });

  it("is not told of a call that was answered meanwhile", async () => {
    answers = [500];
    let current: PendingApproval | undefined = waiting;
    create({ find: async () => current })("confirmation-requested", event);
    await arrived(1);
    current = { ...waiting, state: "approved" };
    await waitsFor(1_000).promise;
    await clock.advance(1_000);
    await webhook?.close();
    expect(received).toHaveLength(1);
    expect(failures).toEqual([]);
  });

  it("is not told of a call that is gone", async () => {
    create({ find: async () => undefined })("confirmation-requested", event);
    await webhook?.close();
    expect([received, failures]).toEqual([[], []]);
  });

  it("delays nobody who asks", () => {
    const order: string[] = [];
    const { watching } = createApprovalWebhook({
      url: new URL("https://approvals.example"),
      find: () => (order.push("find"), new Promise(() => {})),
      describe: () => ({ sha256: "abc", shape: {} }),
      egress,
      clock,
      emit: () => {},
    });
    watching((name) => void order.push(name))("confirmation-requested", event);
    expect(order).toEqual(["confirmation-requested", "find"]);
  });

  it("is reached whatever the call that asks may reach", async () => {
    const emit = create();
    withinDomains([], () => emit("confirmation-requested", event));
    await arrived(1);
    expect(failures).toEqual([]);
  });

  it("does not wait for more than a hundred at once", async () => {
    const emit = create({ find: () => new Promise(() => {}) });
    for (let asked = 0; asked < 101; asked++) emit("confirmation-requested", { ...event, id: String(asked) });
    expect(failures).toEqual([
      { sink: "approval-webhook", message: expect.stringContaining("waits as 100: too many") as string, dropped: 1 },
    ]);
    const closed = webhook?.close();
    await clock.advance(2_000);
    await closed;
  });

  it("is told of any number one after another", async () => {
    const emit = create({ find: async () => undefined });
    for (let asked = 0; asked < 150; asked++) {
      emit("confirmation-requested", event);
      await clock.advance(0);
    }
    expect(failures).toEqual([]);
  });

  it("is told of nothing more once it is closed, and its connections are closed as well", async () => {
    let closed = 0;
    const fork = (): Egress => ({ ...egress, close: () => void closed++ });
    const asked: string[] = [];
    const emit = create({ egress: { fork }, find: async (id) => void asked.push(id) as undefined });
    await webhook?.close();
    emit("confirmation-requested", event);
    expect([asked, closed]).toEqual([[], 1]);
  });

  it("gives up what waits for another attempt when it closes, and says so", async () => {
    answers = [500];
    create()("confirmation-requested", event);
    await arrived(1);
    await waitsFor(1_000).promise;
    await webhook?.close();
    expect(failures).toHaveLength(1);
    expect(failures[0]?.message).toContain("it answered 500 (attempt 1, then closed).");
    expect(clock.pending).toBe(0);
  });

  it("closes although the receiver hangs", async () => {
    answers = ["hang"];
    create()("confirmation-requested", event);
    await arrived(1);
    const closed = webhook?.close();
    await clock.advance(2_000);
    await closed;
    expect(failures.map(({ message }) => message)).toEqual([expect.stringMatching(/ \(attempt 1 of 4\)\.$/)]);
  });
});
