// The calls to the server. A call gives {status, body, retryAfter}; null when no whole answer came in time.
import { pause, timeout } from "./intent.js";

export async function request(method, path, body, { key, wait = timeout } = {}) {
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  try {
    const answer = await fetch("/till" + path, {
      method, headers, body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin", cache: "no-store", redirect: "error", signal: AbortSignal.timeout(wait),
    });
    const text = await answer.text();
    line(true);
    return { status: answer.status, body: parse(text), retryAfter: Number(answer.headers.get("Retry-After")) || 0 };
  } catch {
    line(false);
    return null; // no line, too late, or cut in the middle
  }
}

/** line tells whoever listens whether the last call was answered: a device may think that it is online and reach nobody. */
const line = (answered) => globalThis.dispatchEvent?.(new CustomEvent("boon-line", { detail: answered }));

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null; // from something between
  }
}

export const state = () => request("GET", "/state");
export const today = (day, shop) => request("GET", "/today?" + new URLSearchParams({ ...(day && { day }), ...(shop && { tills: "shop" }) }));
export const signIn = (name, pin, newPIN) => request("POST", "/person", { name, pin, newPIN });
export const signOut = () => request("DELETE", "/person");
export const pair = (token, instead) => request("POST", "/pair", { token, instead });
export const validate = (gift) => request("POST", "/api/redemption/validate-gift", gift);
export const tryOut = (operation, body) => request("POST", "/api/redemption/" + operation + "?dryRun=true", body);
export const call = (operation, body, key) => request("POST", "/api/redemption/" + operation, body, { key });
export const receipt = (id) => request("GET", "/receipts/" + encodeURIComponent(id));
export const newCard = (id) => request("GET", "/api/redemption/new-cards/" + encodeURIComponent(id));
export const ask = (key, operation) =>
  request("GET", "/api/requests/" + encodeURIComponent(key) + "?operation=" + encodeURIComponent(operation));

/** newKey is a fresh Idempotency-Key. */
export function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16)); // not in a secure context
  return "till-" + Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

/**
 * insist asks until the service itself answers, that this is a till (200) or is none (401). failed is told of each other
 * answer, and wait passes milliseconds.
 */
export async function insist(ask, failed, wait) {
  for (let n = 1; ; n++) {
    const answer = await ask();
    if (answer?.status === 200 || answer?.status === 401) return answer;
    failed(answer);
    await wait(Math.max(pause(n), (answer?.retryAfter ?? 0) * 1000));
  }
}
