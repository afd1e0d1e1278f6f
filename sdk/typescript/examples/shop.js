// An example: a web shop that sells a gift, and a till that takes it, against a running service at BOON_URL.
import {randomUUID} from "node:crypto";
import {BoonError, Client} from "../dist/index.js";

const url = process.env.BOON_URL ?? "http://127.0.0.1:8080";
const shop = new Client(url, process.env.BOON_SHOP_KEY ?? "boon_test_demo_only_harbor_coffee_web_shop");
const till = new Client(url, process.env.BOON_TILL_KEY ?? "boon_test_demo_only_harbor_coffee_till");
const money = (amount) => amount.toFixed(2);

export async function sell() {
  const {data} = await shop.api.POST("/api/integration/gifting/send-gift", {body: {
    monetaryGift: {value: 25, deliveryMethodID: 3, recipientDescription: "Ana"}, paymentMethodID: 2,
    externalTransactionReferenceNumber: "WEB-1001", externalTransactionCustomerFirstName: "Carla",
    externalTransactionCustomerLastName: "Diaz", externalTransactionCustomerEmailAddress: "carla@example.com",
    externalStorefrontID: "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21"}});
  return data.gifts[0];
}

async function main() {
  const gift = await sell();
  console.log("sold:", money(gift.currentBalance), gift.currency, "for", gift.recipientDescription);
  const {data: shown} = await till.api.POST("/api/integration/redemption/validate-gift", {
    body: {voucherPublicToken: gift.giftURL}});
  console.log("worth:", money(shown.currentBalance));
  const key = randomUUID(); // kept with the sale before it is used
  const paid = await till.redeemSafely(
    {voucherID: shown.voucherID, amount: 9.5, reference: "check 1"}, {idempotencyKey: key});
  console.log("taken:", money(paid.amount), "left:", money(paid.currentBalance));
  try {
    await till.redeemSafely({voucherID: shown.voucherID, amount: 20});
  } catch (refusal) {
    if (!(refusal instanceof BoonError)) throw refusal;
    console.log("refused:", refusal.code);
  }
  const {data: back} = await till.api.POST("/api/integration/redemption/reverse-redemption", {
    body: {idempotencyKey: key, reason: "wrong table"}});
  console.log("given back:", money(back.amount), "left:", money(back.currentBalance));
  const {data: history} = await shop.api.GET("/api/integration/gifting/gifts/{voucherID}/history", {
    params: {path: {voucherID: gift.voucherID}}});
  console.log("history:", ...history.entries.map((e) => e.kind));
}

if (process.argv[1] === new URL(import.meta.url).pathname) await main();
