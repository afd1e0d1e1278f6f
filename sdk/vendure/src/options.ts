export interface BoonGiftsOptions {
  /** Where Boon is, such as https://gifts.example.com. */
  url: string;
  /** The secret of an API key of Boon's with the permissions validate, redeem, reverse and send. */
  apiKey: string;
  /** The location whose gifts pay. It is needed where the API key is enabled for several locations. */
  organizationID?: string;
  /** The storefront of Boon's set-up under which the shop sells gifts. Without it, the shop sells none. */
  storefrontID?: string;
  /** For how long a gift is held for an order that is not captured: 60 seconds to 30 days. Default: 3600. */
  holdSeconds?: number;
  /** Whether what is held is captured as soon as the order is placed. Default: true. If it is false, staff settle the
   * payment, and holdSeconds must be longer than that takes. */
  captureWhenPlaced?: boolean;
}

/** What the plugin was given. Nest finds it under this name. */
export const OPTIONS = Symbol("boon-gifts options");
