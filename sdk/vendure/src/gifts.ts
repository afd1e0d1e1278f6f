import {randomUUID} from "node:crypto";
import {Inject, Injectable} from "@nestjs/common";
import {ConfigService, Order} from "@vendure/core";
import type {BoonError, Client, components} from "boon-gifts" with {"resolution-mode": "import"};
import {Amounts} from "./amounts";
import {BoonGiftsOptions, OPTIONS} from "./options";

/** A gift as a guest shows it: by the code on the card, or by what the QR code says. */
export type Shown = {voucherCode: string} | {voucherPublicToken: string};

export type Voucher = components["schemas"]["Voucher"];
export type SendGift = components["schemas"]["SendGift"];

/** Why a call failed. */
export interface Failure {
  /** What a guest or a member of staff may read. */ text: string;
  /** Boon's code; "": there was no answer. */ code: string;
}

/** Reads what a guest typed, pasted or scanned, as the tills of Boon do. */
export function read(typed: unknown): Shown | undefined {
  if (typeof typed !== "string") return undefined;
  const text = typed.replace(/^[\s\p{Cc}\p{Cf}]+|[\s\p{Cc}\p{Cf}]+$/gu, "");
  if (text === "") return undefined;
  if (text.includes("/") || /^[A-Za-z0-9]{22}$/.test(text)) return {voucherPublicToken: text};
  return {voucherCode: text.normalize("NFKC").replace(/[\s\p{Pd}\p{Cf}.·\u2212]/gu, "")};
}

/** A payment that a gift made. */
export interface Paid { id: string | number; /** of the hold */ transactionId: string }

/** The calls to Boon that a shop needs. Amounts are whole numbers in Vendure's smallest unit. */
@Injectable()
export class Gifts {
  private readonly client: Promise<Client>;
  private readonly amounts: Amounts;
  private ours?: string | null; // the currency of the account, once it is known

  constructor(@Inject(OPTIONS) private readonly options: BoonGiftsOptions, config: ConfigService) {
    this.amounts = new Amounts(config.entityOptions.moneyStrategy?.precision ?? 2);
    this.client = import("boon-gifts").then(({Client}) =>
      new Client(options.url, options.apiKey, {timeout: 5_000, attempts: 3, deadline: 15_000}));
    this.client.catch(() => {}); // each call fails with the reason
  }

  /** Finds the gift that a guest shows. */
  async find(shown: Shown): Promise<Voucher> {
    const {data} = await (await this.client).api.POST("/api/integration/redemption/validate-gift",
      {body: {...shown, ...this.location()}});
    return data!;
  }

  /** Holds an amount of a gift, or what it has. A second hold under a key is the first one, if that is still open. */
  async hold(key: string, voucherID: string, amount: number, order: Order, verificationCode?: string) {
    const body = {voucherID, amount: this.amounts.covering(amount, order.currencyCode), allowPartial: true, reference: order.code,
      expiresInSeconds: this.options.holdSeconds ?? 3600, ...this.location(), ...(verificationCode ? {verificationCode} : {})};
    const held = await this.holdUnder(key, body).catch(async (failure) => {
      const code = (await this.why(failure)).code;
      if (code !== "" && code !== "IDEMPOTENCY_MISMATCH") throw failure;
      await this.releaseKey(key, voucherID); // a hold that the shop has lost, or does not know of
      if (code === "") throw failure;
    });
    const open = held && Date.parse(held.expiresAt) > Date.now() + 30_000;
    const answer = open ? held : await this.holdUnder(`${key}-${randomUUID()}`, body);
    return {holdID: answer.holdID, amount: this.amounts.told(answer.amount)};
  }

  private async holdUnder(key: string, body: components["schemas"]["HoldGift"]) {
    const {data} = await (await this.client).api.POST("/api/integration/redemption/hold-gift",
      {body, params: {header: {"Idempotency-Key": key}}});
    return data!;
  }

  /** Ends a hold that was made under a key. If it cannot, the hold ends by itself. */
  private async releaseKey(idempotencyKey: string, voucherID: string): Promise<void> {
    await (await this.client).api.POST("/api/integration/redemption/release-hold",
      {body: {idempotencyKey, voucherID}}).catch(() => {});
  }

  /** Takes what is held. */
  async capture(payment: Paid, amount: number, order: Order): Promise<void> {
    await (await this.client).api.POST("/api/integration/redemption/capture-hold",
      {body: {holdID: payment.transactionId, amount: this.amounts.covering(amount, order.currencyCode), reference: order.code},
        params: {header: {"Idempotency-Key": captureKey(payment)}}});
  }

  /** Ends a hold before its time. One that is over counts as done. */
  async release(holdID: string): Promise<void> {
    await (await this.client).api.POST("/api/integration/redemption/release-hold",
      {body: {holdID}, params: {header: {"Idempotency-Key": `vendure-release-${holdID}`}}});
  }

  /** Gives a part of what was captured back to the gift: the nth part, counted from 0, where some was given back before. What
   * staff say why is not sent, as they may say something else when they repeat it. */
  async giveBack(payment: Paid, nth: number, before: number, amount: number, currency: string): Promise<string> {
    const part = this.amounts.part(before, amount, currency);
    if (part === 0) return ""; // less than half of what the currency can tell
    const {data} = await (await this.client).api.POST("/api/integration/redemption/reverse-redemption",
      {body: {idempotencyKey: captureKey(payment), operation: "capture-hold", amount: part},
        params: {header: {"Idempotency-Key": `vendure-refund-${payment.transactionId}-${nth}`}}});
    return data!.reversalID;
  }

  /** Sends a gift, once for each key. Gifts are in the currency of Boon's account: an order in another one sells none. */
  async send(key: string, value: number, currency: string, gift: Omit<SendGift, "monetaryGift">, to: object): Promise<void> {
    const body = {...gift, monetaryGift: {value: this.amounts.part(0, value, currency), ...to}} as SendGift;
    const client = await this.client;
    this.ours ??= (await client.dryRun().api.POST("/api/integration/gifting/send-gift", {body})).data!.gifts[0]!.currency;
    if (this.ours !== currency) throw new Error(`the gifts of Boon are in ${this.ours}, and the order is in ${currency}`);
    await client.api.POST("/api/integration/gifting/send-gift", {body, params: {header: {"Idempotency-Key": key}}});
  }

  /** What is available of a gift, in Vendure's smallest unit. */
  available(gift: Voucher): number { return this.amounts.told(gift.availableBalance ?? 0); }

  /** Why a call failed. The text names no code of a gift. */
  async why(failure: unknown): Promise<Failure> {
    const {BoonError} = await import("boon-gifts");
    if (!(failure instanceof BoonError) || !failure.refused) {
      return {code: "", text: "The gift service gives no answer. Nothing is taken from the gift. Try again, or pay another way."};
    }
    return {code: failure.code, text: sentence(failure)};
  }

  private location() { return this.options.organizationID ? {organizationID: this.options.organizationID} : {}; }
}

/** The key of a capture: by it the redemption is found again when it is refunded. It has the payment, so that no hold is taken
 * for two payments. */
function captureKey({id, transactionId}: Paid): string { return `vendure-capture-${transactionId}-${id}`; }

function sentence(failure: BoonError): string {
  if (["NOT_FOUND", "INVALID_CODE_FORMAT", "INVALID_TOKEN_FORMAT", "NOT_AUTHORIZED"].includes(failure.code)) {
    return "There is no such gift. Look at the code again.";
  }
  return failure.messages.map((message) => message.text).join(" ") || "This gift cannot pay.";
}
