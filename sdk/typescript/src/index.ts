import {createHash, randomUUID} from "node:crypto";
import {setTimeout as pause} from "node:timers/promises";
import createClient, {type Client as Calls} from "openapi-fetch";
import {BoonError, NotDry, UnknownOutcome, Unreachable, Voided} from "./errors.js";
import type {components, paths} from "./schema.js";

export * from "./errors.js";
export * from "./quota.js";
export * from "./webhook.js";
export type {components, paths} from "./schema.js";

export interface Options {
  /** Limits each attempt; all times are in milliseconds. */ timeout?: number;
  attempts?: number;
  /** Limits the whole call. */ deadline?: number;
  /** The longest first pause. */ pause?: number;
  /** The longest pause; a Retry-After above it is not waited for. */ maxPause?: number;
}

export interface Sale {
  /** Absent: a new one. A till that must be able to ask after a crash makes it first and keeps it. */
  idempotencyKey?: string;
  /** Ends the attempts; what may have been taken is given back all the same. */
  signal?: AbortSignal;
  /** Limits the attempts, and once more those of the reversal: 20,000 ms at most. */
  deadline?: number;
}

const normal = {timeout: 60_000, attempts: 4, deadline: 150_000, pause: 250, maxPause: 10_000};
const till = {timeout: 5_000, attempts: 3, deadline: 20_000};
const redeem = "/api/integration/redemption/redeem-gift";
const reverse = "/api/integration/redemption/reverse-redemption";

export type Redeem = components["schemas"]["RedeemGift"];
export type Redemption = components["schemas"]["RedeemGiftAnswer"];

/** Calls one service with one key. A POST that changes something has an Idempotency-Key, and is repeated with it while
 * there is no answer, or 5xx, 429 or REQUEST_IN_PROGRESS. */
export class Client {
  /** The calls of openapi-fetch, which fail with BoonError, Unreachable or UnknownOutcome. */
  readonly api: Calls<paths>;
  readonly #base: string;
  readonly #key: string;
  readonly #options: Required<Options>;
  readonly #dry: boolean;

  constructor(base: string, key: string, options: Options & {/** See dryRun. */ dry?: boolean} = {}) {
    const url = new URL(base);
    if (!/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
      throw new TypeError("the base address must be http or https, without a user name, a query or a fragment");
    }
    if (!/^[!-~]+$/.test(key)) throw new TypeError("the API key must be visible ASCII characters, and at least one");
    this.#base = base.replace(/\/+$/, "");
    this.#key = key;
    const {dry = false, ...times} = options;
    this.#dry = dry;
    this.#options = {...normal, ...times};
    for (const [name, value] of Object.entries(this.#options)) {
      if (!(value > 0)) throw new TypeError(`${name} must be above 0`); // NaN, too
    }
    this.api = this.#calls(this.#options);
  }

  /** A client whose calls change nothing: operations on gifts answer what they would, with ids that name nothing, and
   * refuse what they would refuse. What has no dry run is refused with NOT_SUPPORTED. A service before 0.2.0 has no dry
   * runs and does what it is asked: then the call fails with NotDry. */
  dryRun(): Client { return new Client(this.#base, this.#key, {...this.#options, dry: true}); }

  #calls(options: Required<Options>): Calls<paths> {
    const ask = this.#dry ? dry : repeat;
    return createClient<paths>({baseUrl: this.#base, bodySerializer: (body) => JSON.stringify(body, exact),
      fetch: (request) => ask(request, this.#key, options)});
  }

  /** Redeems as a till must: three tries of 5 seconds under one key; without an answer it is reversed by that key, in
   * another three. Within 40 seconds it fails with BoonError (nothing was taken; IDEMPOTENCY_MISMATCH: the key was used
   * before, for another sale), Unreachable (nothing was sent), Voided (nothing is taken) or UnknownOutcome: then keep its
   * key, and reverse by it and the gift until there is an answer. */
  async redeemSafely(body: Redeem, {idempotencyKey = randomUUID(), signal, deadline}: Sale = {}): Promise<Redemption> {
    if (body.amount === undefined) throw new TypeError("nothing was sent: amount is missing; null is all that is left");
    const limit = Math.min(deadline ?? till.deadline, till.deadline);
    if (!(limit > 0)) throw new TypeError("nothing was sent: deadline must be above 0");
    const api = this.#calls({...this.#options, ...till, deadline: limit});
    try {
      const {data} = await api.POST(redeem, {body, params: {header: {"Idempotency-Key": idempotencyKey}}, signal});
      return data!;
    } catch (unknown) {
      if (!(unknown instanceof UnknownOutcome)) throw unknown;
      const {organizationID = null, pointOfSaleSystemOrganizationIdentifier = null} = body;
      const {voucherID = null, voucherCode = null, voucherPublicToken = null} = body;
      try {
        await api.POST(reverse, {body: {organizationID, pointOfSaleSystemOrganizationIdentifier,
          voucherID, voucherCode, voucherPublicToken, idempotencyKey, operation: "redeem-gift",
          reason: "no answer to the till"}});
      } catch (e) {
        if (e instanceof BoonError && e.code === "IDEMPOTENCY_MISMATCH") throw e; // another sale's was taken under this key
        if (!(e instanceof BoonError && ["NOT_FOUND", "ALREADY_REVERSED"].includes(e.code))) {
          throw new UnknownOutcome(idempotencyKey, e);
        }
      }
      throw new Voided(idempotencyKey, unknown);
    }
  }
}

/** Refuses what JSON would leave out or turn into null: an amount so lost would mean everything that is left. */
function exact(name: string, value: unknown): unknown {
  if (value === undefined && name !== "" || typeof value === "number" && !Number.isFinite(value)) {
    throw new TypeError(`nothing was sent: ${name} is ${value}`);
  }
  return value;
}

/** The paths of calls that take no Idempotency-Key. */
const keyless = /\/api\/integration\/(webhooks|tills|people|reports)(\/|$)/;

/** Whether the call changes something, and whether the service takes an Idempotency-Key for it. */
function kind(request: Request): {changes: boolean; keyed: boolean} {
  const path = new URL(request.url).pathname;
  const changes = request.method !== "GET" && !path.endsWith("/redemption/validate-gift");
  return {changes, keyed: changes && request.method === "POST" && !keyless.test(path)};
}

/** Has a call tell what it would do, where it changes something. */
async function dry(request: Request, key: string, o: Required<Options>): Promise<Response> {
  if (!kind(request).changes) return repeat(request, key, o);
  const url = new URL(request.url);
  url.searchParams.set("dryRun", "true");
  const answer = await repeat(new Request(url, request), key, o);
  if ((await answer.clone().json()).dryRun !== true) throw new NotDry();
  return answer;
}

async function repeat(request: Request, key: string, o: Required<Options>): Promise<Response> {
  const {changes, keyed} = kind(request);
  const headers = new Headers(request.headers);
  headers.set("Authorization", `Bearer ${key}`);
  headers.set("Accept", "application/json, application/problem+json");
  if (keyed && !headers.has("Idempotency-Key")) headers.set("Idempotency-Key", randomUUID());
  if (headers.has("Idempotency-Key") && !/^[!-~]([ -~]{0,253}[!-~])?$/.test(headers.get("Idempotency-Key")!)) {
    throw new TypeError("nothing was sent: the Idempotency-Key must be 1 to 255 printable ASCII characters");
  }
  const body = request.body ? await request.text() : undefined;
  const attempts = request.method === "POST" && changes && !keyed ? 1 : o.attempts;
  const end = performance.now() + o.deadline;
  if (request.signal.aborted) throw new Unreachable(request.signal.reason);
  for (let n = 1, unsure = false; ; n++) {
    const left = Math.ceil(Math.max(1, Math.min(o.timeout, end - performance.now())));
    const got = await within(left, request.signal, (signal) =>
      attempt(request.url, {method: request.method, headers, body, signal, redirect: "manual"}));
    if (got instanceof Response) return got;
    const {failure, after, effect, again} = got;
    unsure = effect === "unknown" || unsure && effect !== "none";
    const wait = after + Math.min(o.pause * 2 ** (n - 1), o.maxPause) * (0.5 + Math.random() / 2);
    if (again && n < attempts && after <= o.maxPause && performance.now() + wait < end) {
      await pause(wait, undefined, {signal: request.signal}).catch(() => {});
      if (!request.signal.aborted) continue;
    }
    if (unsure && changes) throw new UnknownOutcome(headers.get("Idempotency-Key") ?? "", failure);
    throw failure instanceof BoonError ? failure : new Unreachable(failure);
  }
}

/** Gives work a signal that aborts with another one, or when its time is over. AbortSignal.any of an AbortSignal.timeout
 * would be shorter; but Node 20 may collect that timeout as garbage, and then waits for ever. */
async function within<T>(time: number, outer: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const inner = new AbortController(), stop = () => inner.abort(outer.reason);
  const timer = setTimeout(() => inner.abort(new DOMException("the time for an answer is over", "TimeoutError")), time);
  outer.addEventListener("abort", stop);
  if (outer.aborted) stop();
  try {
    return await work(inner.signal);
  } finally {
    clearTimeout(timer);
    outer.removeEventListener("abort", stop);
  }
}

/** What went wrong in an attempt: whether any may have taken effect is known to be "none", "unknown", or the "same" as
 * before it. */
interface Wrong {failure: unknown; after: number; effect: "none" | "unknown" | "same"; again: boolean}

async function attempt(url: string, init: RequestInit): Promise<Response | Wrong> {
  let answer: Response, body: ArrayBuffer;
  try {
    answer = await fetch(url, init);
    body = await answer.arrayBuffer();
  } catch (failure) {
    const code = (failure as {cause?: {code?: string}}).cause?.code ?? "";
    const untrusted = /^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_CERT_)/.test(code); // the next try meets it, too
    const sent = !untrusted && !["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"].includes(code);
    return {failure, after: 0, effect: sent ? "unknown" : "same", again: !untrusted};
  }
  const {status, headers} = answer;
  if (answer.ok && own(new URL(url).pathname, headers, Buffer.from(body))) {
    return new Response(body, {status, headers});
  }
  const no = BoonError.of(answer, answer.ok ? "" : Buffer.from(body).toString());
  return {failure: no, after: no.retryAfter, effect: !no.refused ? "unknown" : no.ofTheMoment ? "same" : "none",
    again: no.passing};
}

/** What a success tells beside its requestID, which every answer has. */
const tells: [string, string][] = [[redeem, "redemptionID"], [reverse, "reversalID"]];

/** Whether a success is the service's answer to this call, and not one of a portal, a gateway, or a proxy that lost the
 * rest. */
function own(path: string, headers: Headers, body: Buffer): boolean {
  if (/\/(reports\/journal|exports\/\w+)$/.test(path)) { // a file of any type, with its SHA-256
    return headers.get("Content-Digest") === `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;
  }
  const type = headers.get("Content-Type") ?? "";
  if (/^(text\/csv|application\/pdf)\b/.test(type)) return body.length > 0 && /\/(gifting\/orders|reports)\//.test(path);
  if (/^application\/problem\+json\b/.test(type)) return false;
  try {
    const members = JSON.parse(body.toString());
    const ids = ["requestID", ...tells.filter(([of]) => path.endsWith(of)).map(([, name]) => name)];
    return ids.every((name) => typeof members[name] === "string" && members[name] !== "") ||
      !/\/api\/(integration|test)\//.test(path);
  } catch { return false; }
}
