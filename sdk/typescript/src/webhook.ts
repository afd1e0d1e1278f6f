import {createHmac, timingSafeEqual} from "node:crypto";
import type {components} from "./schema.js";

export type Event = components["schemas"]["Event"];
export type Incoming = Headers | Record<string, string | string[] | undefined>;

/** The message was not signed with the secret, or not just now. */
export class BadSignature extends Error {}

/** Whether the service sent this message, less than five minutes ago. body is the one that came, not one that was read
 * and written again; now is in milliseconds. */
export function verify(secret: string, headers: Incoming, body: Uint8Array | string, now: number = Date.now()): boolean {
  const named = new Map([...headers instanceof Headers ? headers : Object.entries(headers)].map(
    ([name, value]) => [name.toLowerCase(), value]));
  const [id, sent, given] = ["id", "timestamp", "signature"].map((name) => named.get(`webhook-${name}`));
  if (typeof id !== "string" || typeof sent !== "string" || typeof given !== "string") return false;
  if (!id || !/^[0-9]{1,12}$/.test(sent) || Math.abs(now / 1000 - Number(sent)) > 300) return false;
  const text = secret.replace(/^whsec_/, ""), key = Buffer.from(text, "base64");
  if (key.length < 16 || !/^[A-Za-z0-9+/]+=*$/.test(text)) throw new TypeError("the secret is not one of a webhook");
  const want = Buffer.from("v1," + createHmac("sha256", key).update(`${id}.${sent}.`).update(body).digest("base64"));
  return given.split(" ").map((one) => Buffer.from(one)).some(
    (one) => one.length === want.length && timingSafeEqual(one, want));
}

/** The event in a message; BadSignature where verify is false. */
export function readEvent(secret: string, headers: Incoming, body: Uint8Array | string): Event {
  if (!verify(secret, headers, body)) throw new BadSignature("the message is not one of Boon's, or old");
  return JSON.parse(Buffer.from(body as Uint8Array).toString());
}
