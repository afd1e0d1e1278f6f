/** A gift as a guest shows it: by the code on the card, or by what the QR code says. */
export type Gift = {voucherCode: string} | {voucherPublicToken: string};

/** What a guest shows to pay with. It is passed from the route to the provider in memory. Medusa stores the data of a payment
 * session before it asks the provider, so the code must never be in them. */
export interface Shown {
  gift: Gift;
  verificationCode?: string;
  /** Whether the code was wrong. The provider says so. */ wrong: boolean;
}

const waiting = new Map<string, Shown>();

/** Has a provider find what a guest shows, under the key of the hold to be made, while something is done. */
export async function during<T>(key: string, shown: Shown, what: () => Promise<T>): Promise<T> {
  waiting.set(key, shown);
  try {
    return await what();
  } finally {
    waiting.delete(key);
  }
}

/** What a guest shows, once for each key. */
export function taken(key: unknown): Shown | undefined {
  if (typeof key !== "string") return undefined;
  const shown = waiting.get(key);
  waiting.delete(key);
  return shown;
}

/** Reads what a guest typed, pasted or scanned, as the tills of Boon do. */
export function read(typed: unknown): Gift | undefined {
  if (typeof typed !== "string") return undefined;
  const text = typed.replace(/^[\s\p{Cc}\p{Cf}]+|[\s\p{Cc}\p{Cf}]+$/gu, "");
  if (text === "") return undefined;
  if (text.includes("/") || /^[A-Za-z0-9]{22}$/.test(text)) return {voucherPublicToken: text};
  return {voucherCode: text.normalize("NFKC").replace(/[\s\p{Pd}\p{Cf}.·\u2212]/gu, "")};
}
