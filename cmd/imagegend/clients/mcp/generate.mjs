// Has the official client make an image: `generate.mjs URL KEY` over HTTP, `generate.mjs -- PROGRAM ARGUMENT…` over
// standard input and output. Writes what the tools say as JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [first, second, ...rest] = process.argv.slice(2);
const transport = first === "--"
  ? new StdioClientTransport({ command: second, args: rest })
  : new StreamableHTTPClientTransport(new URL(first), { requestInit: { headers: { Authorization: `Bearer ${second}` } } });
const client = new Client({ name: "imagegend-clients", version: "1" });
await client.connect(transport);
const { tools } = await client.listTools();
let steps = 0;
const made = await client.callTool({ name: "generate_image", arguments: { prompt: "[fake:delay=1s] a fox", size: "64x48" } },
  undefined, { onprogress: () => { steps++; } });
const balance = first === "--" ? undefined : await client.callTool({ name: "get_balance", arguments: {} });
console.log(JSON.stringify({ tools: tools.map((t) => t.name), steps, made, balance }));
await client.close();
