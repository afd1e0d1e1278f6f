import {Args, Mutation, Resolver} from "@nestjs/graphql";
import {Ctx, RequestContext, UserInputError} from "@vendure/core";
import {parse} from "graphql";
import {Gifts, read} from "./gifts";
import {Limit} from "./limit";

/** What a guest may ask. It is a mutation so that no code stands in the address of a GET. */
export const balanceSchema = parse(`
  "What is left of a gift"
  type GiftBalance {
    "The last four digits of its code"
    lastFour: String!
    "How much it can pay now"
    available: Money!
    currencyCode: CurrencyCode!
  }
  extend type Mutation {
    "Asks what is left of a gift, by the code on the card or by what its QR code says"
    giftBalance(code: String!): GiftBalance!
  }
`);

/** Answers a guest what is left of a gift. */
@Resolver()
export class BalanceResolver {
  constructor(private readonly gifts: Gifts, private readonly limit: Limit) {}

  @Mutation()
  async giftBalance(@Ctx() ctx: RequestContext, @Args() {code}: {code: string}) {
    const shown = read(code);
    if (!shown) throw new UserInputError("Type the code of the gift.");
    if (!this.limit.take(ctx)) throw new UserInputError("Too many codes were wrong. Try again later.");
    const gift = await this.gifts.find(shown).catch(async (failure) => {
      const why = await this.gifts.why(failure);
      if (why.code === "") this.limit.giveBack(ctx);
      throw new UserInputError(why.text);
    });
    this.limit.giveBack(ctx);
    if (gift.isItemType) throw new UserInputError("This gift is good for an item. It has no amount.");
    return {lastFour: gift.lastFour, available: this.gifts.available(gift), currencyCode: gift.currency};
  }
}
