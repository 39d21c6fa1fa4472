// Does with OpenAI's client what the first argument behind address and key says, and writes the result as JSON.
import OpenAI, { toFile } from "openai";

const [baseURL, apiKey, what, ...files] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey });
const image = { model: "fake-1", prompt: "a fox", size: "64x48" };

const calls = {
  generate: () => client.images.generate({ ...image, n: 2, user: "u", background: "auto", moderation: "auto" }),
  edit: async () => client.images.edit({ ...image, image: await uploads() }),
  models: async () => ({ list: (await client.models.list()).data, one: await client.models.retrieve("fake-1") }),
  stream: async () => all(await client.images.generate({ ...image, n: 2, stream: true, partial_images: 1 })),
  streamedEdit: async () => all(await client.images.edit({ ...image, image: await uploads(), stream: true })),
  refused: () => failure({ ...image, seed: "7" }),
  policy: () => failure({ ...image, prompt: "[fake:refuse]" }),
  poor: () => failure({ ...image, n: 4, size: "4096x4096" }),
};

async function uploads() {
  const { createReadStream } = await import("node:fs");
  return Promise.all(files.map((name) => toFile(createReadStream(name))));
}

async function all(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

async function failure(body) {
  try {
    await client.images.generate(body);
  } catch (e) {
    return { name: e.constructor.name, status: e.status, code: e.code, param: e.param, type: e.type, message: e.message, request: e.requestID };
  }
  return { name: "none" };
}

console.log(JSON.stringify(await calls[what]()));
