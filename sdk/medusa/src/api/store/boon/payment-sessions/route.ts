import {randomUUID} from "node:crypto";
import type {MedusaRequest, MedusaResponse} from "@medusajs/framework/http";
import {ContainerRegistrationKeys, MedusaError} from "@medusajs/framework/utils";
import {createPaymentSessionsWorkflow, deletePaymentSessionsWorkflow} from "@medusajs/medusa/core-flows";
import {giveBack, take} from "../../../../limit";
import {during, read, Shown} from "../../../../shown";

interface Asked {
  /** Of the cart. */ payment_collection_id?: unknown;
  /** On the card, or what its QR code says. */ code?: unknown;
  verification_code?: unknown;
}

/** Has a gift pay for a cart: it is held, and Medusa gets a payment session with the hold's id and the last four digits. */
export async function POST(req: MedusaRequest<Asked>, res: MedusaResponse): Promise<void> {
  const {payment_collection_id: id, code, verification_code: verification} = req.body ?? {};
  const gift = read(code);
  if (typeof id !== "string" || !gift) throw refused("Send payment_collection_id, and the code of the gift as code.");
  const {data: [collection]} = await req.scope.resolve(ContainerRegistrationKeys.QUERY).graph({
    entity: "payment_collection", fields: ["id", "status", "payment_sessions.id"], filters: {id},
  });
  if (!collection) throw refused("There is no such payment collection.");
  if (!["not_paid", "awaiting"].includes(collection.status)) throw refused("This cart is paid already.");
  const client = req.ip ?? "";
  if (!take(client)) throw refused("Too many codes were wrong. Try again later, or pay another way.");
  const shown: Shown = {gift, wrong: false, ...(typeof verification === "string" ? {verificationCode: verification} : {})};
  try {
    const ids = (collection.payment_sessions ?? []).map((session: {id: string}) => session.id);
    await deletePaymentSessionsWorkflow(req.scope).run({input: {ids}}); // which ends what they hold
    const key = `medusa-hold-${randomUUID()}`;
    const {result} = await during(key, shown, () => createPaymentSessionsWorkflow(req.scope).run({
      input: {payment_collection_id: id, provider_id: "pp_boon_gift", data: {hold_key: key}},
    }));
    res.json({payment_session: {id: result.id, amount: result.amount, currency_code: result.currency_code, data: result.data}});
  } finally {
    if (!shown.wrong) giveBack(client);
  }
}

function refused(text: string): MedusaError { return new MedusaError(MedusaError.Types.INVALID_DATA, text); }
