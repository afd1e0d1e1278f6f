// Keeps the till's page, and what it is made of, on the device, so that it opens on a bad line. It never touches a call: what
// a gift is worth and what was taken, only the server says.
const shell = "boon-till";
const longest = 2500; // milliseconds that the network gets for the page before the kept copy is shown

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

// A page that is whole names everything that it is made of: that is kept together, and nothing else.
self.addEventListener("message", (event) => {
  const addresses = event.data?.keep;
  if (Array.isArray(addresses) && addresses.every((a) => ours(new URL(a)))) event.waitUntil(keep(addresses));
});

const ours = (url) => url.origin === location.origin && (url.pathname === "/till" || url.pathname.startsWith("/till/assets/"));

async function keep(addresses) {
  const cache = await caches.open(shell);
  const known = new Set((await cache.keys()).map((request) => request.url));
  await cache.addAll(addresses.filter((a) => new URL(a).pathname === "/till" || !known.has(a)));
  for (const request of await cache.keys()) if (!addresses.includes(request.url)) await cache.delete(request);
}

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || !ours(url)) return;
  event.respondWith(url.pathname === "/till" ? page(event.request) : asset(event.request));
});

async function page(request) {
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error("late")), longest));
  const fresh = fetch(request);
  try {
    const answer = await Promise.race([fresh, late]);
    if (answer.status < 500) return answer;
  } catch {
    // the kept copy, if there is one
  }
  const cache = await caches.open(shell);
  return (await cache.match(request)) ?? (await cache.match("/till", { ignoreSearch: true })) ?? fresh;
}

/** Addresses of assets hold the hash of what they are. */
async function asset(request) {
  const cache = await caches.open(shell);
  return (await cache.match(request)) ?? fetch(request);
}
