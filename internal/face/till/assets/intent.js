// What becomes of a call that moves value, when the line is bad. Pure: a table of states and events, without clock,
// network or storage; safe.js drives it, and node tests it.
//
// An intent is the whole call, kept on the device under its Idempotency-Key before anything is sent. It ends in "yes" (it was
// done, once) or in "no" (it was not, and never will be); one of another till ends in "elsewhere", as this one cannot know.
// Until then it is "sending" (no try has failed), "asking" (what became of it is not known) or "voiding" (whatever became of
// it, it is to be undone by its key).

/** How long a try may take, as the server gives up after 4 seconds. */
export const timeout = 5000;

/**
 * How old an intent may be that is sent once more. An older one is undone or forgotten rather: the guest has paid in
 * another way, or left.
 */
export const oldest = 120_000;

/**
 * How long after its last try a call that was not found is not under way any more, in milliseconds that really passed: the
 * device's clock may be set meanwhile. The server gives a call up after 4 seconds.
 */
export const gone = 60_000;

const waits = [300, 700, 1500, 3000, 5000];

/** pause is how long to wait before the nth try after a failure. */
export const pause = (n) => waits[Math.min(n, waits.length) - 1] ?? waits[0];

/** What undoes an operation by its key; nothing undoes an undoing. */
export const undoing = { "redeem-gift": "reverse-redemption", "redeem-gifts": "reverse-redemption",
  "activate-gift": "reverse-activation", "reload-gift": "reverse-reload", "cash-out-gift": "reverse-redemption" };

/** rightsToUndo are the permissions that each undoing needs. */
export const rightsToUndo = { "redeem-gift": ["reverse"], "redeem-gifts": ["reverse"], "activate-gift": ["activate"],
  "reload-gift": ["reload"], "cash-out-gift": ["reverse", "cash-out"] };

/** unstaffed tells of what /till/state says that somebody must sign in, and nobody may. */
export const unstaffed = ({ people, may, deviceMay }) => people.length === 0 && may.length < deviceMay.length;

/** byKey is what the undoing of an intent by its key is asked with: one that is not of a redemption of one gift must say so. */
export const byKey = ({ key, operation }) =>
  ({ idempotencyKey: key, ...(["cash-out-gift", "redeem-gifts"].includes(operation) && { operation }) });

/** begin makes an intent of the till with a key; shown is what the page says of it. */
export const begin = (key, operation, body, shown, now, keyID) =>
  ({ key, operation, body, shown, keyID, began: now, state: "sending", tries: 0, failures: 0 });

/** booked is how much an intent moved, as the server has it: not what the page expected. undefined: nothing, or it is not known. */
export function booked({ state, answer }) {
  if (state !== "yes") return undefined;
  return answer?.reversals ? answer.reversals.reduce((sum, r) => sum + r.amount, 0) : answer?.amount;
}

export const ended = (intent) => ["yes", "no", "elsewhere"].includes(intent.state);

/** open tells whether what became of an intent is not known. */
export const open = (intent) => !ended(intent) || intent.state === "elsewhere";

/** within is an intent as a till sees it. That of another till is out of its reach: NOT_FOUND would not mean "no". */
export const within = (intent, keyID) =>
  (ended(intent) || !intent.keyID || intent.keyID === keyID ? intent : { ...intent, state: "elsewhere" });

/**
 * next says what to do for an intent: {do: "post"} the call itself, {do: "ask"} what became of its key, {do: "void"} it by
 * its key, or {do: "nothing"}; wait is how long before.
 */
export function next(intent, now) {
  if (ended(intent)) return { do: "nothing", wait: 0 };
  const wait = intent.failures > 0 ? pause(intent.failures) : 0;
  if (intent.state === "voiding") return { do: "void", wait };
  if (intent.state === "sending" && intent.tries === 0) return { do: isOld(intent, now) ? "ask" : "post", wait: 0 };
  return { do: intent.again ? "post" : "ask", wait };
}

/** One that cannot be undone is not sent once more. A clock that was set back makes an intent old as well. */
const isOld = (intent, now) => intent.undoable === false || now < intent.began || now - intent.began > oldest;

/** sent notes that a try leaves now: from here on nobody knows, until there is an answer. */
export const sent = (intent) => ({ ...intent, tries: intent.tries + 1, again: false });

/**
 * posted takes the answer to the call: {status, body}, or null when there was none in time.
 *
 * A refusal ends it when it is about the gift or the request, as the same call gets the same answer. One that is about the
 * caller or the moment (401, 403, 429) ends only a first try: an earlier one may have been carried out.
 */
export function posted(intent, answer) {
  if (answer === null || answer.status >= 500 || answer.body?.code === "REQUEST_IN_PROGRESS") return unknown(intent);
  if (answer.status >= 200 && answer.status < 300) return yes(intent, answer.body);
  if ([401, 403, 429].includes(answer.status) && intent.tries > 1) return unknown(intent);
  if (answer.status < 400) return unknown(intent); // it comes from something between
  if (typeof answer.body?.code !== "string") return unknown(intent);
  return no(intent, answer.body);
}

/**
 * asked takes the answer to the question what became of the key; missing is for how long it has not been found since its last
 * try, as far as this page knows.
 */
export function asked(intent, answer, now, mayUndo, missing = 0) {
  if (answer?.status === 200) {
    const found = answer.body?.requests?.find((r) => r.operation === intent.operation);
    if (found?.state === "finished") return found.status < 300 ? yes(intent, found.answer) : no(intent, found.answer);
    if (found?.state === "spent") return no(intent, null);
    return unknown(intent);
  }
  if (answer?.status !== 404 || answer.body?.code !== "NOT_FOUND") return unknown(intent);
  if (!isOld(intent, now)) return { ...intent, state: "asking", again: true };
  if (mayUndo && intent.undoable !== false && undoing[intent.operation]) return { ...intent, state: "voiding", failures: 0 };
  return missing >= gone ? no(intent, null) : unknown(intent);
}

/** stop has an intent undone, done or not, as the guest pays in another way; one that nothing undoes goes on. */
export function stop(intent) {
  if (intent.state === "no" || intent.undoable === false || !undoing[intent.operation]) return intent;
  return { ...intent, state: "voiding", failures: 0 };
}

/**
 * voided takes the answer to the undoing by key. Whoever stands at the till may not do it: then somebody else does. Of an
 * intent that does not say its till, a refusal may mean that it is another's.
 */
export function voided(intent, answer) {
  const code = answer?.body?.code;
  if (answer?.status === 200 || code === "NOT_FOUND" || code === "ALREADY_REVERSED") return { ...no(intent, null), voided: true };
  if (answer?.status === 403 && !intent.keyID && answer.body?.messages?.[0]?.path !== "person") return { ...intent, state: "elsewhere" };
  if (answer === null || answer.status >= 500 || answer.status < 400 || [401, 403, 429].includes(answer.status) ||
    code === "REQUEST_IN_PROGRESS") {
    return { ...intent, failures: intent.failures + 1 };
  }
  return { ...unknown(intent), undoable: false }; // it cannot be undone: only ask, never send it again
}

const yes = (intent, answer) => ({ ...intent, state: "yes", answer });
const no = (intent, problem) => ({ ...intent, state: "no", problem });
const unknown = (intent) => ({ ...intent, state: "asking", again: false, failures: intent.failures + 1 });
