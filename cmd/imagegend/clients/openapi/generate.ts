// Makes an image with the client that is generated from the OpenAPI document: generate.js URL KEY.
import createClient from "openapi-fetch";
import type { paths } from "./api.js";

declare const process: { argv: string[]; exit(status: number): never };

const [baseUrl, key] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
const { data, error } = await client.POST("/api/v1/images/generations", { body: { model: "fake-1", prompt: "a fox", size: "64x48", n: 1 } });
if (error) {
  console.log(error.error.code, error.error.message);
  process.exit(1);
}
const generation = data as Extract<typeof data, { balance?: unknown }>;
const credits: number | undefined = generation.balance?.credits;
console.log(JSON.stringify({ id: generation.id, images: generation.images, credits }));
