import {Inject, Injectable, OnApplicationBootstrap} from "@nestjs/common";
import {
  EventBus, isGraphQlErrorResult, JobQueue, JobQueueService, Logger, Order, OrderLine, OrderService,
  OrderStateTransitionEvent, PaymentMethod, RequestContext, RequestContextService, TransactionalConnection,
} from "@vendure/core";
import {Gifts} from "./gifts";
import {giftHandler, isGift} from "./handler";
import {BoonGiftsOptions, OPTIONS} from "./options";

type Task = {orderId: string; channel: string};

/** How often a task is tried before staff must look at it. */
const retries = 100;

/** Does what is due once an order is placed or paid: captures what gifts hold, and sends the gifts that were bought.
 * Each has its idempotency key, so it may be done again: after a failure, and after a start for the orders of the last
 * day. */
@Injectable()
export class Work implements OnApplicationBootstrap {
  private queue!: JobQueue<Task>;

  constructor(
    @Inject(OPTIONS) private readonly options: BoonGiftsOptions, private readonly gifts: Gifts,
    private readonly queues: JobQueueService, private readonly events: EventBus, private readonly orders: OrderService,
    private readonly contexts: RequestContextService, private readonly connection: TransactionalConnection,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.queue = await this.queues.createQueue({name: "boon-gifts", process: async ({data}) => this.do(data)});
    this.events.registerBlockingEventHandler({
      event: OrderStateTransitionEvent, id: "boon-gifts",
      handler: async ({toState, order, ctx}) => {
        if (toState === "PaymentAuthorized" || toState === "PaymentSettled") await this.add(ctx, order);
      },
    });
    const ctx = await this.contexts.create({apiType: "admin"});
    const recent = await this.connection.rawConnection.getRepository(Order).createQueryBuilder("placed")
      .leftJoinAndSelect("placed.channels", "channel")
      .where("placed.orderPlacedAt > :since", {since: new Date(Date.now() - 24 * 3600_000)}).getMany();
    for (const order of recent) {
      await this.queue.add({orderId: String(order.id), channel: order.channels[0]?.token ?? ctx.channel.token}, {retries});
    }
  }

  /** Adds a task in the transaction of what made it due, if the shop's queue is in its database. */
  private async add(ctx: RequestContext, order: Order): Promise<void> {
    await this.queue.add({orderId: String(order.id), channel: ctx.channel.token}, {retries, ctx});
  }

  private async do({orderId, channel}: Task): Promise<void> {
    const ctx = await this.contexts.create({apiType: "admin", channelOrToken: channel});
    const order = await this.orders.findOne(ctx, orderId, ["payments", "lines", "lines.productVariant", "customer"]);
    if (!order?.orderPlacedAt) throw new Error(`order ${orderId} is not placed yet`);
    if (order.state === "Cancelled") return;
    if (this.options.captureWhenPlaced !== false) await this.capture(ctx, order);
    if (this.options.storefrontID) await this.send(order);
  }

  private async capture(ctx: RequestContext, order: Order): Promise<void> {
    const methods = await this.connection.getRepository(ctx, PaymentMethod).find();
    const ours = new Set(methods.filter((m) => m.handler.code === giftHandler.code).map((m) => m.code));
    for (const payment of order.payments) {
      if (payment.state !== "Authorized" || !ours.has(payment.method)) continue;
      const settled = await this.orders.settlePayment(ctx, payment.id);
      if (!isGraphQlErrorResult(settled)) continue;
      const now = (await this.orders.getOrderPayments(ctx, order.id)).find((p) => p.id === payment.id);
      if (now?.state === "Authorized") throw new Error(`order ${order.code}: ${settled.message}`); // which is tried again
      Logger.error(`order ${order.code}: ${settled.message}; payment ${payment.id} needs a member of staff`, "boon-gifts");
    }
  }

  private async send(order: Order): Promise<void> {
    const paid = order.payments.filter((p) => p.state === "Settled").reduce((sum, p) => sum + p.amount, 0);
    if (paid < order.totalWithTax) return; // it is due once all is paid
    for (const line of order.lines.filter((l) => isGift(l))) {
      for (let n = 1; n <= line.quantity; n++) {
        await this.gifts.send(`vendure-gift-${order.code}-${line.id}-${n}`, line.unitPriceWithTax, order.currencyCode,
          this.purchase(order), recipient(order, line));
      }
    }
  }

  private purchase(order: Order) {
    const {customer} = order;
    return {
      paymentMethodID: 2 as const, externalTransactionReferenceNumber: order.code,
      externalTransactionCustomerFirstName: customer?.firstName || "Guest",
      externalTransactionCustomerLastName: customer?.lastName || "Guest",
      externalTransactionCustomerEmailAddress: customer?.emailAddress ?? "", externalStorefrontID: this.options.storefrontID!,
    };
  }
}

/** To whom a gift goes: to whom the line names, or else to the customer. */
function recipient(order: Order, line: OrderLine): object {
  const to = line.customFields as {giftEmail?: string; giftRecipient?: string; giftMessage?: string};
  return {
    deliveryMethodID: 1, recipientContact: to.giftEmail || order.customer?.emailAddress,
    recipientDescription: to.giftRecipient || to.giftEmail || order.customer?.firstName || "Guest",
    ...(to.giftMessage ? {message: to.giftMessage} : {}),
  };
}
