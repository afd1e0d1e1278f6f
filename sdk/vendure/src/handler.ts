import {
  CreatePaymentErrorResult, CreatePaymentResult, LanguageCode, Logger, Order, OrderLine, Payment, PaymentMetadata,
  PaymentMethodHandler, Refund, RequestContext, TransactionalConnection,
} from "@vendure/core";
import {Gifts, read, Shown, Voucher} from "./gifts";
import {Limit} from "./limit";

let gifts: Gifts, connection: TransactionalConnection, limit: Limit;

const NO_GIFT = "A gift cannot pay for a gift.";
const NOT_KNOWN = "The gift service gives no answer. Refund the same amount again: nothing is given back twice.";
const ANOTHER_PAYMENT = "Another payment was made at the same moment. Look at what is left to pay.";
const ANOTHER_AMOUNT = "The refund before got no answer. Refund the amount of that one again first.";

/** Whether something in a line is sold as a gift. */
export function isGift(line: OrderLine): boolean {
  return (line.productVariant.customFields as {boonGift?: boolean}).boonGift === true;
}

/** A gift pays for an order: what the order needs is held, what is held is captured or released, and what was captured
 * goes back to the gift when it is refunded. The code of the gift stands in the metadata that a guest sends. It is not
 * stored: a payment has the hold's id and the last four digits. */
export const giftHandler = new PaymentMethodHandler({
  code: "boon-gift",
  description: [{languageCode: LanguageCode.en, value: "Gift (Boon)"}],
  args: {},
  init(injector) {
    gifts = injector.get(Gifts);
    connection = injector.get(TransactionalConnection);
    limit = injector.get(Limit);
  },

  async createPayment(ctx, order, amount, _args, metadata) {
    try {
      return await hold(ctx, order, amount, metadata);
    } catch (failure) {
      const {code, text} = await gifts.why(failure);
      if (code === "") {
        Logger.error(`order ${order.code}: ${failure}`, "boon-gifts");
        return {amount, state: "Error", errorMessage: text, metadata: {}};
      }
      return declined(amount, text);
    }
  },

  async settlePayment(ctx, order, payment) {
    try {
      if (await sellsGift(ctx, order)) { // which a guest added after the payment
        await gifts.release(payment.transactionId);
        return {success: false, state: "Error", errorMessage: NO_GIFT};
      }
      await gifts.capture(payment, payment.amount, order);
      return {success: true};
    } catch (failure) {
      const {code, text} = await gifts.why(failure);
      Logger.error(`order ${order.code}: ${failure}`, "boon-gifts");
      return code === "HOLD_NOT_OPEN"
        ? {success: false, state: "Error", errorMessage: text}
        : {success: false, state: "Authorized", errorMessage: text};
    }
  },

  async cancelPayment(_ctx, order, payment) {
    try {
      await gifts.release(payment.transactionId);
      return {success: true};
    } catch (failure) {
      Logger.error(`order ${order.code}: ${failure}`, "boon-gifts");
      return {success: false, state: payment.state as "Authorized", errorMessage: (await gifts.why(failure)).text};
    }
  },

  async createRefund(ctx, _input, amount, order, payment) {
    await alone(ctx, order);
    // A refund that got no answer may have arrived. The next one has its key, so that nothing is given back twice.
    const before = await locked(() => connection.getRepository(ctx, Refund).createQueryBuilder("refund")
      .where("refund.payment = :id", {id: payment.id}));
    const nth = before.filter((refund) => refund.metadata?.unanswered !== true).length;
    const given = before.filter((refund) => refund.state === "Settled").reduce((sum, refund) => sum + refund.total, 0);
    try {
      const reversalID = await gifts.giveBack(payment, nth, given, amount, order.currencyCode);
      return {state: "Settled", transactionId: reversalID};
    } catch (failure) {
      Logger.error(`order ${order.code}: ${failure}`, "boon-gifts");
      const {code, text} = await gifts.why(failure);
      if (code === "") return {state: "Failed", metadata: {unanswered: true, errorMessage: NOT_KNOWN}};
      if (code === "IDEMPOTENCY_MISMATCH") return {state: "Failed", metadata: {unanswered: true, errorMessage: ANOTHER_AMOUNT}};
      return {state: "Failed", metadata: {errorMessage: text}};
    }
  },
});

async function hold(
  ctx: RequestContext, order: Order, amount: number, sent: PaymentMetadata,
): Promise<CreatePaymentResult | CreatePaymentErrorResult> {
  const shown = read(sent.code);
  if (!shown) return declined(amount, "Type the code of the gift.");
  if (await sellsGift(ctx, order)) return declined(amount, NO_GIFT);
  if (!limit.take(ctx)) return declined(amount, "Too many codes were wrong. Try again later, or pay another way.");
  const gift = await look(ctx, shown);
  if (gift.isItemType) return declined(amount, "This gift is good for an item. It cannot pay an amount.");
  if (gift.currency !== order.currencyCode) return declined(amount, `This gift pays in ${gift.currency} only.`);
  await alone(ctx, order);
  const before = (await locked(() => connection.getRepository(ctx, Payment).createQueryBuilder("payment")
    .where("payment.order = :id", {id: order.id}))).length;
  if (before !== order.payments.length) return declined(amount, ANOTHER_PAYMENT); // the amount is no longer what is left
  const held = await gifts.hold(`vendure-hold-${order.code}-${before}`, gift.voucherID, amount, order,
    typeof sent.verificationCode === "string" ? sent.verificationCode : undefined);
  return {amount: held.amount, state: "Authorized", transactionId: held.holdID, metadata: {public: {lastFour: gift.lastFour}}};
}

async function sellsGift(ctx: RequestContext, order: Order): Promise<boolean> {
  const lines = await connection.getRepository(ctx, OrderLine).find({where: {order: {id: order.id}},
    relations: ["productVariant"]});
  return lines.some((line) => line.quantity > 0 && isGift(line));
}

/** Has whatever else pays or refunds an order wait until this transaction is over: two payments at the same moment would
 * both have the hold of one. */
async function alone(ctx: RequestContext, order: Order): Promise<void> {
  await locked(() => connection.getRepository(ctx, Order).createQueryBuilder("placed").where("placed.id = :id", {id: order.id}));
}

/** Finds rows as they are now, and locks them. SQLite has no such locks: it has one transaction at a time. */
async function locked<T>(query: () => Found<T> & {setLock(mode: "pessimistic_write"): Found<T>}): Promise<T[]> {
  try {
    return await query().setLock("pessimistic_write").getMany();
  } catch (failure) {
    if (!/^(LockNotSupportedOnGivenDriver|PessimisticLockTransactionRequired)Error$/.test((failure as Error).name)) throw failure;
    return await query().getMany();
  }
}

interface Found<T> { getMany(): Promise<T[]> }

/** Finds a gift. What is no wrong code takes no try from the client. */
async function look(ctx: RequestContext, shown: Shown): Promise<Voucher> {
  try {
    const gift = await gifts.find(shown);
    limit.giveBack(ctx);
    return gift;
  } catch (failure) {
    if ((await gifts.why(failure)).code === "") limit.giveBack(ctx);
    throw failure;
  }
}

function declined(amount: number, errorMessage: string): CreatePaymentResult {
  return {amount, state: "Declined", errorMessage, metadata: {}};
}
