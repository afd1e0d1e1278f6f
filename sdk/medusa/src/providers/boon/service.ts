import type {
  AuthorizePaymentInput, AuthorizePaymentOutput, CancelPaymentInput, CancelPaymentOutput, CapturePaymentInput,
  CapturePaymentOutput, DeletePaymentInput, DeletePaymentOutput, GetPaymentStatusInput, GetPaymentStatusOutput,
  InitiatePaymentInput, InitiatePaymentOutput, Logger, RefundPaymentInput, RefundPaymentOutput, RetrievePaymentInput,
  RetrievePaymentOutput, UpdatePaymentOutput, WebhookActionResult,
} from "@medusajs/framework/types";
import {
  AbstractPaymentProvider, BigNumber, defaultCurrencies, MedusaError, PaymentActions, PaymentSessionStatus,
} from "@medusajs/framework/utils";
import {Gifts, Options} from "../../gifts";
import {Shown, taken} from "../../shown";

/** What Medusa keeps of a payment. It has a hold's id once there is a hold. */
interface Kept {
  /** The key of a hold that is being made. It goes when the hold is there. */ hold_key?: string;
  hold_id?: string;
  last_four?: string;
  state?: "held" | "authorized" | "captured" | "canceled";
  currency?: string;
  /** How many parts were given back. */ refunds?: number;
  /** How much that was, as Medusa counts it: it has more decimals than the currency. */ given?: number;
}

/** A gift pays for an order: what the order costs is held, what is held is captured or released, and what was captured goes
 * back to the gift when it is refunded. The code of the gift comes from the plugin's route, in memory, and is not kept. */
export class GiftProvider extends AbstractPaymentProvider<Options> {
  static identifier = "boon";
  private readonly gifts: Gifts;
  private readonly logger: Logger;

  static validateOptions(options: Partial<Options>): void {
    const missing = (["url", "apiKey"] as const).filter((name) => !options[name]);
    if (missing.length > 0) throw new Error(`boon-medusa: the options have no ${missing.join(" and no ")}`);
  }

  constructor(cradle: {logger: Logger} & Record<string, unknown>, private readonly options: Options) {
    super(cradle, options);
    this.gifts = new Gifts(options);
    this.logger = cradle.logger;
  }

  async initiatePayment({amount, currency_code, data}: InitiatePaymentInput): Promise<InitiatePaymentOutput> {
    const key = data?.hold_key as string;
    const shown = taken(key);
    if (!shown) throw refused("A gift pays by POST /store/boon/payment-sessions.");
    const session = String(data?.session_id);
    return await this.asked(async () => {
      const gift = await this.find(shown);
      if (gift.isItemType) throw refused("This gift is good for an item. It cannot pay an amount.");
      if (gift.currency !== currency_code.toUpperCase()) throw refused(`This gift pays in ${gift.currency} only.`);
      const digits = decimals(gift.currency);
      const whole = Number(new BigNumber(amount).numeric.toFixed(digits));
      const held = await this.gifts.hold(key, gift.voucherID, whole, session, shown.verificationCode);
      if (held.amount < whole) {
        await this.gifts.release(held.holdID);
        throw refused(`This gift has ${held.amount.toFixed(digits)} ${gift.currency}, and the order costs ` +
          `${whole.toFixed(digits)} ${gift.currency}. A gift must pay the whole order. Nothing was taken from it.`);
      }
      return {id: held.holdID, data: {hold_key: undefined, hold_id: held.holdID, last_four: gift.lastFour, state: "held",
        currency: gift.currency}};
    });
  }

  async authorizePayment({data}: AuthorizePaymentInput): Promise<AuthorizePaymentOutput> {
    const kept = own(data);
    if (!kept.hold_id) throw refused("Nothing is held of the gift. Show it again, or pay another way.");
    const capture = this.options.captureWhenPlaced ?? true;
    await this.asked(() => capture ? this.gifts.capture(kept.hold_id!) : this.gifts.canCapture(kept.hold_id!));
    return capture
      ? {status: PaymentSessionStatus.CAPTURED, data: {...kept, state: "captured"}}
      : {status: PaymentSessionStatus.AUTHORIZED, data: {...kept, state: "authorized"}};
  }

  async capturePayment({data}: CapturePaymentInput): Promise<CapturePaymentOutput> {
    const kept = own(data);
    await this.asked(() => this.gifts.capture(kept.hold_id!));
    return {data: {...kept, state: "captured"}};
  }

  async cancelPayment({data}: CancelPaymentInput): Promise<CancelPaymentOutput> {
    const kept = own(data);
    await this.asked(() => this.gifts.release(kept.hold_id!));
    return {data: {...kept, state: "canceled"}};
  }

  async refundPayment({data, amount}: RefundPaymentInput): Promise<RefundPaymentOutput> {
    const kept = own(data);
    const nth = kept.refunds ?? 0, before = kept.given ?? 0, digits = decimals(kept.currency);
    const after = before + new BigNumber(amount).numeric;
    const part = Number((Number(after.toFixed(digits)) - Number(before.toFixed(digits))).toFixed(digits));
    if (part > 0) await this.asked(() => this.gifts.giveBack(kept.hold_id!, nth, part));
    return {data: {...kept, refunds: nth + 1, given: after}};
  }

  /** Ends the hold of a session that no order is paid with. A session that paid for an order keeps what it took. */
  async deletePayment({data}: DeletePaymentInput): Promise<DeletePaymentOutput> {
    const kept = own(data);
    if (kept.state === "authorized" || kept.state === "captured") return {data};
    try {
      if (kept.hold_id) await this.end(kept.hold_id);
      else if (kept.hold_key) await this.gifts.releaseKey(kept.hold_key);
    } catch (failure) {
      const {code} = await this.gifts.why(failure);
      if (code !== "NOT_FOUND") this.logger.warn(`boon-medusa: a hold ends by itself: ${failure}`);
    }
    return {data};
  }

  async getPaymentStatus({data}: GetPaymentStatusInput): Promise<GetPaymentStatusOutput> {
    const kept = own(data);
    if (kept.state === "captured") return {status: PaymentSessionStatus.CAPTURED};
    if (kept.state === "canceled") return {status: PaymentSessionStatus.CANCELED};
    if (!kept.hold_id) return {status: PaymentSessionStatus.ERROR};
    try {
      await this.gifts.canCapture(kept.hold_id);
    } catch (failure) {
      if ((await this.gifts.why(failure)).code !== "HOLD_NOT_OPEN") throw failure;
      return {status: PaymentSessionStatus.CANCELED};
    }
    return {status: kept.state === "authorized" ? PaymentSessionStatus.AUTHORIZED : PaymentSessionStatus.PENDING};
  }

  async retrievePayment({data}: RetrievePaymentInput): Promise<RetrievePaymentOutput> { return {data}; }

  /** A hold has one amount: a cart that costs something else holds again. */
  async updatePayment(): Promise<UpdatePaymentOutput> {
    throw refused("What is held of a gift cannot be changed. Hold it again.");
  }

  async getWebhookActionAndData(): Promise<WebhookActionResult> { return {action: PaymentActions.NOT_SUPPORTED}; }

  private async find(shown: Shown) {
    return await this.gifts.find(shown.gift).catch(async (failure) => {
      shown.wrong = (await this.gifts.why(failure)).code !== "";
      throw failure;
    });
  }

  /** Ends a hold. If it was captured, and the shop ended before it knew, what was captured goes back. */
  private async end(holdID: string): Promise<void> {
    try {
      await this.gifts.release(holdID);
    } catch (failure) {
      if ((await this.gifts.why(failure)).code !== "HOLD_NOT_OPEN") throw failure;
      await this.gifts.undo(holdID);
    }
  }

  /** Does something, and says why Boon did not. */
  private async asked<T>(what: () => Promise<T>): Promise<T> {
    try {
      return await what();
    } catch (failure) {
      if (MedusaError.isMedusaError(failure)) throw failure;
      const {code, text} = await this.gifts.why(failure);
      this.logger.warn(`boon-medusa: ${code || failure}`);
      throw refused(text);
    }
  }
}

/** How many decimals amounts of a currency have. */
function decimals(currency: string | undefined): number {
  return defaultCurrencies[currency as keyof typeof defaultCurrencies]?.decimal_digits ?? 2;
}

function own(data: Record<string, unknown> | undefined): Kept { return (data ?? {}) as Kept; }

function refused(text: string): MedusaError { return new MedusaError(MedusaError.Types.NOT_ALLOWED, text); }
