export interface Message {path: string; text: string}

/** An answer that is no success of the service's. */
export class BoonError extends Error {
  constructor(readonly code: string, readonly status: number, readonly messages: Message[], readonly requestID: string,
    /** In milliseconds; 0: not said. */ readonly retryAfter: number) {
    super(`${code || "HTTP"} (${status}): ${messages.map((m) => (m.path ? `${m.path}: ` : "") + m.text).join("; ")}`);
  }

  /** The service's definite no: nothing was changed. */
  get refused(): boolean {
    return this.code !== "" && this.code !== "REQUEST_IN_PROGRESS" && this.status >= 400 && this.status < 500;
  }

  /** A repeat may fare better. */
  get passing(): boolean {
    return this.status < 300 || this.status >= 500 || this.status === 429 || this.code === "REQUEST_IN_PROGRESS";
  }

  /** It is about the key or the load now: it comes before the service looks at the Idempotency-Key, and says nothing
   * about what an earlier attempt did. */
  get ofTheMoment(): boolean { return [401, 403, 429].includes(this.status); }

  static of(answer: Response, text: string): BoonError {
    const requestID = answer.headers.get("X-Request-ID") ?? "", after = answer.headers.get("Retry-After") ?? "";
    const wait = /^[0-9]{1,9}$/.test(after) ? Number(after) * 1000 : Math.max(0, Date.parse(after) - Date.now()) || 0;
    if (/^application\/problem\+json\b/.test(answer.headers.get("Content-Type") ?? "")) {
      try {
        const p = JSON.parse(text);
        if (p.code) return new BoonError(p.code, answer.status, p.messages ?? [], p.requestID ?? requestID, wait);
      } catch { /* it is not one of Boon's */ }
    }
    return new BoonError("", answer.status, [{path: "", text: answer.status >= 300 && answer.status < 400
      ? "The service answered with a redirect, which is not followed."
      : "The answer is not one of Boon's; something between may have given it."}], requestID, wait);
  }
}

/** Nothing was changed: the service was not reached, or was only asked. */
export class Unreachable extends Error {
  constructor(cause: unknown) { super("the service gave no answer", {cause}); }
}

/** The call took effect once, or not at all. Repeat it, or reverse it, by its key. */
export class UnknownOutcome extends Error {
  constructor(readonly idempotencyKey: string, cause: unknown) {
    super(`it is unknown whether ${idempotencyKey} took effect`, {cause});
  }
}

/** redeemSafely took the redemption back. */
export class Voided extends Error {
  constructor(readonly idempotencyKey: string, cause: unknown) { super("nothing was taken from the gift", {cause}); }
}

/** The service took no notice of a dry run and did what it was asked: its version is before 0.2.0. */
export class NotDry extends Error {
  constructor() { super("the service took no notice of the dry run and did what it was asked"); }
}
