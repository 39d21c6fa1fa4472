// Has images made through the AI SDK's provider for compatible APIs, and writes them in base64 as JSON.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { experimental_generateImage as generateImage } from "ai";

const [baseURL, apiKey] = process.argv.slice(2);
const imagegend = createOpenAICompatible({ name: "imagegend", baseURL, apiKey });
const { images } = await generateImage({ model: imagegend.imageModel("fake-1"), prompt: "a fox", size: "64x48", n: 2 });
console.log(JSON.stringify(images.map((i) => i.base64)));
