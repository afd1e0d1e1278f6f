import type {BoonError, Client, components} from "boon-gifts" with {"resolution-mode": "import"};
import type {Gift} from "./shown";

export interface Options {
  /** Where Boon is, such as https://gifts.example.com. */ url: string;
  /** The secret of an API key of Boon's with the permissions validate, redeem and reverse. */ apiKey: string;
  /** The location whose gifts pay. It is needed where the API key is enabled for several locations. */
  organizationID?: string;
  /** For how long a gift is held for an order that is not captured: 60 seconds to 30 days. Default: 3600. */
  holdSeconds?: number;
  /** Whether what is held is captured as soon as the order is placed. Default: true. If it is false, staff capture the
   * payment, and holdSeconds must be longer than that takes. */
  captureWhenPlaced?: boolean;
}

/** Why a call failed. */
export interface Failure {
  /** What a guest or a member of staff may read. */ text: string;
  /** Boon's code; "": there was no answer. */ code: string;
}

/** The calls to Boon that a shop needs. Amounts are in units of the currency, such as 12.50. */
export class Gifts {
  private readonly client: Promise<Client>;

  constructor(private readonly options: Options) {
    this.client = import("boon-gifts").then(({Client}) =>
      new Client(options.url, options.apiKey, {timeout: 5_000, attempts: 3, deadline: 15_000}));
    this.client.catch(() => {}); // each call fails with the reason
  }

  /** Finds the gift that a guest shows. */
  async find(gift: Gift): Promise<components["schemas"]["Voucher"]> {
    const {data} = await (await this.client).api.POST("/api/integration/redemption/validate-gift",
      {body: {...gift, ...this.location()}});
    return data!;
  }

  /** Holds an amount of a gift, or what the gift has. */
  async hold(key: string, voucherID: string, amount: number, reference: string, verificationCode?: string) {
    const {data} = await (await this.client).api.POST("/api/integration/redemption/hold-gift", {
      body: {voucherID, amount, allowPartial: true, reference, expiresInSeconds: this.options.holdSeconds ?? 3600,
        ...this.location(), ...(verificationCode ? {verificationCode} : {})},
      params: {header: {"Idempotency-Key": key}},
    });
    return data!;
  }

  /** Takes all that is held. */
  async capture(holdID: string): Promise<void> {
    await (await this.client).api.POST("/api/integration/redemption/capture-hold",
      {body: {holdID}, params: {header: {"Idempotency-Key": captureKey(holdID)}}});
  }

  /** Fails as a capture would. It changes nothing. */
  async canCapture(holdID: string): Promise<void> {
    await (await this.client).dryRun().api.POST("/api/integration/redemption/capture-hold", {body: {holdID}});
  }

  /** Ends a hold before its time. One that is over counts as done. */
  async release(holdID: string): Promise<void> {
    await (await this.client).api.POST("/api/integration/redemption/release-hold",
      {body: {holdID}, params: {header: {"Idempotency-Key": `medusa-release-${holdID}`}}});
  }

  /** Ends a hold by the key that it was made with, also if it arrives later. */
  async releaseKey(idempotencyKey: string): Promise<void> {
    await (await this.client).api.POST("/api/integration/redemption/release-hold", {body: {idempotencyKey}});
  }

  /** Gives all that was captured back to the gift. */
  async undo(holdID: string): Promise<void> { await this.reverse(holdID, `medusa-undo-${holdID}`); }

  /** Gives a part of what was captured back to the gift: the nth part, counted from 0. */
  async giveBack(holdID: string, nth: number, amount: number): Promise<void> {
    await this.reverse(holdID, `medusa-refund-${holdID}-${nth}`, amount);
  }

  private async reverse(holdID: string, key: string, amount?: number): Promise<void> {
    await (await this.client).api.POST("/api/integration/redemption/reverse-redemption", {
      body: {idempotencyKey: captureKey(holdID), operation: "capture-hold", ...(amount === undefined ? {} : {amount})},
      params: {header: {"Idempotency-Key": key}},
    });
  }

  /** Why a call failed. The text names no code of a gift. */
  async why(failure: unknown): Promise<Failure> {
    const {BoonError} = await import("boon-gifts");
    if (!(failure instanceof BoonError) || !failure.refused) {
      return {code: "", text: "The gift service gives no answer. Try again, or pay another way."};
    }
    return {code: failure.code, text: sentence(failure)};
  }

  private location() { return this.options.organizationID ? {organizationID: this.options.organizationID} : {}; }
}

/** The key of a capture: by it the redemption is found again when it is refunded. */
function captureKey(holdID: string): string { return `medusa-capture-${holdID}`; }

function sentence(failure: BoonError): string {
  if (["NOT_FOUND", "INVALID_CODE_FORMAT", "INVALID_TOKEN_FORMAT", "NOT_AUTHORIZED"].includes(failure.code)) {
    return "There is no such gift. Look at the code again.";
  }
  return failure.messages.map((message) => message.text).join(" ") || "This gift cannot pay.";
}
