import {randomUUID} from "node:crypto";
import createClient, {type Client as Calls} from "openapi-fetch";
import {BoonError, UnknownOutcome, Unreachable, Voided} from "./errors.js";
import type {components, paths} from "./schema.js";

export * from "./errors.js";
export {verify} from "./webhook.js";
export type {components, paths} from "./schema.js";

export interface Options {
  /** Limits each attempt, in milliseconds. */ timeout?: number;
  attempts?: number;
  /** Limits the whole call. */ deadline?: number;
  /** The longest first pause. */ pause?: number;
  /** The longest pause; a Retry-After above it is not waited for. */ maxPause?: number;
}

const normal = {timeout: 60_000, attempts: 4, deadline: 150_000, pause: 250, maxPause: 10_000};
const till = {timeout: 5_000, attempts: 3, deadline: 20_000};
const redeem = "/api/integration/redemption/redeem-gift";
const reverse = "/api/integration/redemption/reverse-redemption";

export type Redeem = components["schemas"]["RedeemGift"];
export type Redemption = components["schemas"]["RedeemGiftAnswer"];

/** Calls one service with one key. Every POST that changes something has an Idempotency-Key from its first attempt on. */
export class Client {
  /** The calls of openapi-fetch, which fail with BoonError, Unreachable or UnknownOutcome. */
  readonly api: Calls<paths>;
  readonly #base: string;
  readonly #key: string;
  readonly #options: Required<Options>;

  constructor(base: string, key: string, options: Options = {}) {
    const url = new URL(base);
    if (!/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
      throw new TypeError("the base address must be http or https, without a user name, a query or a fragment");
    }
    if (!/^[!-~]+$/.test(key)) throw new TypeError("the API key must be visible ASCII characters, and at least one");
    this.#base = base.replace(/\/+$/, "");
    this.#key = key;
    this.#options = {...normal, ...options};
    this.api = this.#calls(this.#options);
  }

  #calls(options: Required<Options>): Calls<paths> {
    return createClient<paths>({baseUrl: this.#base, bodySerializer: (body) => JSON.stringify(body, exact),
      fetch: (request) => repeat(request, this.#key, options)});
  }

  /** Redeems as a till must: three tries of 5 seconds under one key; without an answer it is reversed by that key, in
   * another three. It fails with BoonError (nothing was taken), Unreachable (nothing was sent), Voided (nothing is
   * taken) or UnknownOutcome: then keep its key, and reverse by it until there is an answer. */
  async redeemSafely(body: Redeem, idempotencyKey: string = randomUUID()): Promise<Redemption> {
    if (body.amount === undefined) throw new TypeError("nothing was sent: amount is missing; null is all that is left");
    const api = this.#calls({...this.#options, ...till});
    try {
      const {data} = await api.POST(redeem, {body, params: {header: {"Idempotency-Key": idempotencyKey}}});
      return data!;
    } catch (unknown) {
      if (!(unknown instanceof UnknownOutcome)) throw unknown;
      const {organizationID = null, pointOfSaleSystemOrganizationIdentifier = null} = body;
      try {
        await api.POST(reverse, {body: {organizationID, pointOfSaleSystemOrganizationIdentifier,
          idempotencyKey, reason: "no answer to the till"}});
      } catch (e) {
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

/** Whether the call changes something, and whether the service takes an Idempotency-Key for it. */
function kind(request: Request): {changes: boolean; keyed: boolean} {
  const path = new URL(request.url).pathname;
  const changes = request.method !== "GET" && !path.endsWith("/redemption/validate-gift");
  return {changes, keyed: changes && request.method === "POST" && !path.includes("/api/integration/webhooks")};
}

async function repeat(request: Request, key: string, o: Required<Options>): Promise<Response> {
  const {changes, keyed} = kind(request);
  const headers = new Headers(request.headers);
  headers.set("Authorization", `Bearer ${key}`);
  headers.set("Accept", "application/json, application/problem+json");
  if (keyed && !headers.has("Idempotency-Key")) headers.set("Idempotency-Key", randomUUID());
  const body = request.body ? await request.text() : undefined;
  const attempts = request.method === "POST" && changes && !keyed ? 1 : o.attempts;
  const end = Date.now() + o.deadline;
  let unsure = false;
  for (let n = 1; ; n++) {
    let failure: unknown;
    let wait = 0;
    try {
      const left = Math.max(1, Math.min(o.timeout, end - Date.now()));
      const signal = AbortSignal.any([request.signal, AbortSignal.timeout(left)]);
      const answer = await fetch(request.url, {method: request.method, headers, body, signal, redirect: "manual"});
      const text = await answer.text();
      if (answer.ok) {
        if (text) JSON.parse(text); // an answer that was cut off fails
        return new Response(text || null, {status: answer.status, headers: answer.headers});
      }
      const no = BoonError.of(answer, text);
      failure = no;
      unsure = no.refused ? unsure && [401, 403, 429].includes(no.status) : true;
      if (!no.passing) return fail();
      wait = no.retryAfter;
      if (wait > o.maxPause) return fail();
    } catch (e) {
      if (e instanceof BoonError || e instanceof UnknownOutcome) throw e;
      failure = e;
      unsure ||= !notSent(e);
    }
    wait += Math.min(o.pause * 2 ** (n - 1), o.maxPause) * (0.5 + Math.random() / 2);
    if (n >= attempts || request.signal.aborted || Date.now() + wait >= end) return fail();
    await new Promise((done) => setTimeout(done, wait));

    function fail(): never {
      if (unsure && changes) throw new UnknownOutcome(headers.get("Idempotency-Key") ?? "", failure);
      throw failure instanceof BoonError ? failure : new Unreachable(failure);
    }
  }
}

/** Whether no connection was made. */
function notSent(e: unknown): boolean {
  const code = (e as {cause?: {code?: string}}).cause?.code ?? "";
  return ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"].includes(code);
}
