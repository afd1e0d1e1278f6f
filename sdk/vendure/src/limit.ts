import {Injectable} from "@nestjs/common";
import {RequestContext} from "@vendure/core";

const most = 10, each = 6 * 60_000, clients = 10_000;

/** Limits how many wrong codes a client may try: ten at once, and one more every six minutes. Boon limits the shop as a
 * whole; this keeps one guesser from using that up for all guests. */
@Injectable()
export class Limit {
  private readonly wrong = new Map<string, {count: number; at: number}>();

  /** Whether the client may try another code. The try counts at once, so that many at the same moment count, too. */
  take(ctx: RequestContext): boolean {
    const count = this.count(ctx);
    if (count < most) this.set(ctx, count + 1);
    return count < most;
  }

  /** Takes a try back that was no wrong code. */
  giveBack(ctx: RequestContext): void { this.set(ctx, Math.max(0, this.count(ctx) - 1)); }

  private set(ctx: RequestContext, count: number): void {
    const client = name(ctx);
    this.wrong.delete(client); // so that the oldest stand first
    if (count > 0) this.wrong.set(client, {count, at: Date.now()});
    if (this.wrong.size > clients) this.wrong.delete(this.wrong.keys().next().value!);
  }

  private count(ctx: RequestContext): number {
    const known = this.wrong.get(name(ctx));
    return known ? Math.max(0, known.count - (Date.now() - known.at) / each) : 0;
  }
}

function name(ctx: RequestContext): string { return ctx.req?.ip ?? ""; }
