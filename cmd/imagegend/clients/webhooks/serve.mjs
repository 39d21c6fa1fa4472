// Takes events at an address that it prints, and answers whether the function of another module accepts them.
import { createServer } from "node:http";
import { resolve } from "node:path";

const { signed } = await import(resolve(process.argv[2]));
const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const good = signed(request.headers, Buffer.concat(parts), process.env.WEBHOOK_SECRET);
  response.writeHead(good ? 204 : 401).end();
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
