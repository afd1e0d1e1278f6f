// Carries intents out, and keeps them in the device's storage until somebody has seen how they ended: a tab that is
// closed in the middle goes on where it was. What to do when, intent.js decides.
import * as intents from "./intent.js";

const prefix = "boon.intent.";

export class Safe {
  /**
   * storage keeps texts; call(operation, body, key, again) and ask(key, operation) give {status, body}, or null without an
   * answer; again says that it is not the first call of its intent; changed is told of an intent whenever it stands differently.
   * now is the device's clock, passed the milliseconds that really passed.
   */
  constructor({ storage, call, ask, mayUndo, changed, now = Date.now, passed = () => performance.now(), sleep = pause,
    locks = globalThis.navigator?.locks }) {
    Object.assign(this, { storage, call, ask, mayUndo, changed, now, passed, sleep, locks });
    this.stops = new Map();
    this.missed = new Map(); // by key, since when a call is not found
  }

  /** kept lists the intents on this device that nobody has seen the end of, the oldest first. */
  kept() {
    const all = [];
    for (let i = 0; i < this.storage.length; i++) {
      const name = this.storage.key(i);
      if (!name.startsWith(prefix)) continue;
      try {
        all.push(JSON.parse(this.storage.getItem(name)));
      } catch {
        // not one of ours
      }
    }
    return all.filter((i) => i?.key).sort((a, b) => a.began - b.began);
  }

  /** seen forgets an intent that has ended. */
  seen(intent) {
    if (intents.ended(intent)) this.storage.removeItem(prefix + intent.key);
  }

  #keep(intent) {
    this.storage.setItem(prefix + intent.key, JSON.stringify(intent));
    this.changed(intent);
    return intent;
  }

  /** start keeps an intent, then carries it out. It throws, and sends nothing, where the device keeps nothing. */
  start(key, operation, body, shown, keyID) {
    const intent = intents.begin(key, operation, body, shown, this.now(), keyID);
    this.storage.setItem(prefix + key, JSON.stringify(intent));
    return this.finish(intent);
  }

  /** finish carries an intent on until it has ended; another tab that is at it is left to it. */
  async finish(intent) {
    if (!this.locks) return this.#run(intent);
    return this.locks.request(prefix + intent.key, { ifAvailable: true }, (lock) => (lock ? this.#run(intent) : null));
  }

  /** stop has the intent of a key undone rather than sent again. */
  stop(key) { this.stops.get(key)?.(); }

  async #run(intent) {
    let stopped = false;
    const stop = new Promise((resolve) => this.stops.set(intent.key, () => { stopped = true; resolve(); }));
    intent = this.#keep(intent);
    while (!intents.ended(intent)) {
      if (stopped && intent.state !== "voiding" && intent.undoable !== false) intent = this.#keep(intents.stop(intent));
      const step = intents.next(intent, this.now());
      if (step.wait > 0 && !(await this.#waited(step.wait, stopped ? null : stop))) continue;
      const before = intent.state;
      intent = await this.#step(intent, step.do);
      if (stopped && before !== "voiding") intent = intents.stop(intent); // whatever the answer was that was under way
      this.#keep(intent);
    }
    this.stops.delete(intent.key);
    this.missed.delete(intent.key);
    return intent;
  }

  /** waited is false where stop came first. */
  async #waited(ms, stop) {
    return Promise.race([this.sleep(ms).then(() => true), ...(stop ? [stop.then(() => false)] : [])]);
  }

  async #step(intent, what) {
    if (what === "post") {
      this.missed.delete(intent.key);
      intent = this.#keep(intents.sent(intent));
      return intents.posted(intent, await this.call(intent.operation, intent.body, intent.key, intent.tries > 1));
    }
    if (what === "void") {
      const key = "undo-" + intent.key;
      return intents.voided(intent, await this.call(intents.undoing[intent.operation], intents.byKey(intent), key, true));
    }
    const answer = await this.ask(intent.key, intent.operation);
    return intents.asked(intent, answer, this.now(), this.mayUndo(intent.operation), this.#missing(intent.key, answer));
  }

  /** missing is for how long a key has not been found since its last try. */
  #missing(key, answer) {
    if (answer?.status === 200) this.missed.delete(key);
    if (answer?.status === 404 && !this.missed.has(key)) this.missed.set(key, this.passed());
    return this.missed.has(key) ? this.passed() - this.missed.get(key) : 0;
  }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
