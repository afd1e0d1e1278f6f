// Fills a shop of Medusa: a region, coffee for 30.00, a key for the storefront and one for staff. It prints what the tests need.
const {
  createApiKeysWorkflow, createProductsWorkflow, createRegionsWorkflow, createSalesChannelsWorkflow,
  linkSalesChannelsToApiKeyWorkflow,
} = require("@medusajs/medusa/core-flows");

exports.default = async ({container}) => {
  const make = async (workflow, input) => (await workflow(container).run({input})).result;
  const [region] = await make(createRegionsWorkflow, {regions: [{name: "America", currency_code: "usd", countries: ["us"],
    payment_providers: ["pp_system_default", "pp_boon_gift"]}]});
  const [channel] = await make(createSalesChannelsWorkflow, {salesChannelsData: [{name: "Web"}]});
  const [coffee] = await make(createProductsWorkflow, {products: [{title: "coffee", status: "published",
    sales_channels: [{id: channel.id}], options: [{title: "size", values: ["one"]}],
    variants: [{title: "coffee", options: {size: "one"}, manage_inventory: false,
      prices: [{currency_code: "usd", amount: 30}]}]}]});
  const [guests, staff] = await make(createApiKeysWorkflow, {api_keys: [
    {title: "storefront", type: "publishable", created_by: ""}, {title: "staff", type: "secret", created_by: ""}]});
  await make(linkSalesChannelsToApiKeyWorkflow, {id: guests.id, add: [channel.id]});
  console.log("stock " + JSON.stringify({region: region.id, variant: coffee.variants[0].id, guests: guests.token, staff: staff.token}));
};
