import {createHmac, timingSafeEqual} from "node:crypto";

/** Whether the service sent this message, less than five minutes ago. body is the one that came. */
export function verify(secret: string, headers: Record<string, string | string[] | undefined>, body: Uint8Array,
  now: number = Date.now()): boolean {
  const id = headers["webhook-id"], sent = headers["webhook-timestamp"], given = headers["webhook-signature"];
  if (typeof id !== "string" || typeof sent !== "string" || typeof given !== "string") return false;
  if (!id || !/^[0-9]{1,12}$/.test(sent) || Math.abs(now / 1000 - Number(sent)) > 300) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  if (key.length < 16) throw new TypeError("the secret is not one of a webhook");
  const want = createHmac("sha256", key).update(`${id}.${sent}.`).update(body).digest();
  return given.split(" ").filter((s) => s.startsWith("v1,")).some((s) => {
    const got = Buffer.from(s.slice(3), "base64");
    return got.length === want.length && timingSafeEqual(got, want);
  });
}
