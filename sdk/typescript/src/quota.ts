/** A daily limit that a call counted against, and what is left of it. */
export interface Quota {
  /** Whose limit it is, and which, such as key.giftsPerDay. */ name: string;
  /** What it counts, such as gifts, or minor-units of the account's currency. */ unit: string;
  /** How many a day. */ limit: number;
  /** Of the day's. */ left: number;
  /** In how many seconds it counts anew. */ resets: number;
  /** How many seconds the day has. */ window: number;
}

/** The daily limits that a call counted against, by name: of the response of api.POST. None: nothing was done. What
 * cannot be read of RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-10) is left out. */
export function quotas({headers}: Pick<Response, "headers">): Quota[] {
  const left = items(headers.get("RateLimit") ?? ""), all: Quota[] = [];
  for (const [name, of] of items(headers.get("RateLimit-Policy") ?? "")) {
    const numbers = [of.get("q"), left.get(name)?.get("r"), left.get(name)?.get("t"), of.get("w")];
    if (!numbers.every((n) => /^[0-9]{1,15}$/.test(n ?? ""))) continue;
    const [limit, rest, resets, window] = numbers.map(Number) as [number, number, number, number];
    all.push({name, unit: (of.get("qu") ?? "").replaceAll('"', ""), limit, left: rest, resets, window});
  }
  return all.sort((a, b) => a.name < b.name ? -1 : 1);
}

/** The strings of a list with their parameters (RFC 9651). The service's have no quotes, commas or semicolons in them. */
function items(list: string): Map<string, Map<string, string>> {
  const all = new Map<string, Map<string, string>>();
  for (const item of list.split(",")) {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim());
    if (name) all.set(name.replaceAll('"', ""), new Map(parameters.map((p) => p.split("=", 2) as [string, string])));
  }
  return all;
}
