const most = 10, each = 6 * 60_000, clients = 10_000;
const wrong = new Map<string, {count: number; at: number}>();

/** Whether a client may try another code: ten wrong ones at once, and one more every six minutes. Boon limits the shop as a
 * whole; this keeps one guesser from using that up for all guests. The try counts at once, so that many at the same moment
 * count, too. */
export function take(client: string): boolean {
  const count = counted(client);
  if (count < most) set(client, count + 1);
  return count < most;
}

/** Takes a try back that was no wrong code. */
export function giveBack(client: string): void { set(client, Math.max(0, counted(client) - 1)); }

function set(client: string, count: number): void {
  wrong.delete(client); // so that the oldest stand first
  if (count > 0) wrong.set(client, {count, at: Date.now()});
  if (wrong.size > clients) wrong.delete(wrong.keys().next().value!);
}

function counted(client: string): number {
  const known = wrong.get(client);
  return known ? Math.max(0, known.count - (Date.now() - known.at) / each) : 0;
}
