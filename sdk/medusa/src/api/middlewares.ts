import {defineMiddlewares, MedusaNextFunction, MedusaRequest, MedusaResponse} from "@medusajs/framework/http";

/** Refuses a gift that comes by Medusa's own route, before anything of it is stored: Medusa stores the data of a session
 * first, and asks the provider then. */
function refuse(req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction): void {
  const asked = req.body as {provider_id?: unknown} | undefined;
  if (!String(asked?.provider_id).startsWith("pp_boon_")) return next();
  res.status(400).json({type: "invalid_data", message: "A gift pays by POST /store/boon/payment-sessions."});
}

export default defineMiddlewares({
  routes: [{matcher: "/store/payment-collections/:id/payment-sessions", methods: ["POST"], middlewares: [refuse]}],
});
