// Asks for one image with OpenAI's client, which repeats a call that takes longer than the limit, and writes the
// answer as JSON.
import OpenAI from "openai";

const [baseURL, apiKey, prompt, timeout] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey, timeout: Number(timeout) });
console.log(JSON.stringify(await client.images.generate({ model: "fake-1", prompt, size: "64x48" })));
