import {LanguageCode, PluginCommonModule, RuntimeVendureConfig, Type, VendurePlugin} from "@vendure/core";
import {BalanceResolver, balanceSchema} from "./balance";
import {Gifts} from "./gifts";
import {giftHandler} from "./handler";
import {Limit} from "./limit";
import {BoonGiftsOptions, OPTIONS} from "./options";
import {Work} from "./work";

/** Lets gifts of Boon pay in a shop, and the shop sell them. */
@VendurePlugin({
  imports: [PluginCommonModule],
  compatibility: "^3.0.0",
  providers: [{provide: OPTIONS, useFactory: () => BoonGiftsPlugin.options}, Gifts, Limit, Work],
  shopApiExtensions: {schema: balanceSchema, resolvers: [BalanceResolver]},
  configuration: addFields,
})
export class BoonGiftsPlugin {
  /** @internal */
  static options: BoonGiftsOptions;

  static init(options: BoonGiftsOptions): Type<BoonGiftsPlugin> {
    const seconds = options.holdSeconds ?? 3600;
    if (!(seconds >= 60 && seconds <= 2_592_000)) throw new TypeError("holdSeconds must be from 60 to 2592000");
    this.options = options;
    return BoonGiftsPlugin;
  }
}

function addFields(config: RuntimeVendureConfig): RuntimeVendureConfig {
  const label = (value: string) => [{languageCode: LanguageCode.en, value}];
  config.paymentOptions.paymentMethodHandlers.push(giftHandler);
  config.customFields.ProductVariant.push(
    {name: "boonGift", type: "boolean", defaultValue: false, public: true, label: label("Is sold as a gift")});
  config.customFields.OrderLine.push(
    {name: "giftRecipient", type: "string", nullable: true, label: label("Name of who gets the gift")},
    {name: "giftEmail", type: "string", nullable: true, label: label("E-mail address of who gets the gift")},
    {name: "giftMessage", type: "text", nullable: true, label: label("Message with the gift")});
  return config;
}
