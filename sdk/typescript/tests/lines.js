// Servers that misbehave, on 127.0.0.1.
import {createServer} from "node:http";
import net from "node:net";

export const listen = (server) => new Promise((done) => server.listen(0, "127.0.0.1", () =>
  done(`http://127.0.0.1:${server.address().port}`)));

/** Answers in turn, the last for ever, with [status, headers, body]; null closes the line, and a function answers. */
export async function scripted(t, ...answers) {
  const asked = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const {method, url: path, headers: {"idempotency-key": key, authorization: auth}} = request;
    asked.push({method, path, key, auth, body});
    const answer = answers[Math.min(asked.length, answers.length) - 1];
    if (!answer) return request.socket.destroy();
    if (typeof answer === "function") return answer(request, response);
    response.writeHead(answer[0], answer[1]).end(answer[2]);
  });
  t.after(() => { server.close(); server.closeAllConnections(); });
  return {url: await listen(server), asked};
}

export function problem(status, code, headers = {}) {
  return [status, {"Content-Type": "application/problem+json", ...headers},
    JSON.stringify({code, status, messages: [{path: "amount", text: "Because."}], requestID: "req-1"})];
}

/** A line to a service that closes instead of handing on the answer where lose(request) says so. */
export async function losing(t, to, lose) {
  const {port, hostname} = new URL(to), open = new Set();
  const server = net.createServer((caller) => {
    const service = net.connect(port, hostname);
    let lost = false;
    for (const s of [caller, service]) {
      open.add(s);
      s.on("error", () => {});
      s.on("close", () => { caller.destroy(); service.destroy(); });
    }
    caller.on("data", (d) => { if (/^(POST|GET) /.test(d)) lost = lose(String(d)); service.write(d); });
    service.on("data", (d) => lost ? caller.destroy() : caller.write(d));
  });
  t.after(() => { server.close(); for (const s of open) s.destroy(); });
  return listen(server);
}
