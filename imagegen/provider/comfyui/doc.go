// Package comfyui is a provider over ComfyUI. It runs the operator's own workflows.
//
//	workflow, err := os.ReadFile("sdxl.json") // exported with "Export (API)"
//	...
//	p, err := comfyui.New(comfyui.Config{Workflows: [][]byte{workflow}})
//
// A workflow says where a request's values go:
//
//	"6": {"class_type": "CLIPTextEncode", "inputs": {"text": "{{prompt}}, high detail", "clip": ["4", 1]}},
//	"5": {"class_type": "EmptyLatentImage", "inputs": {"width": "{{width}}", "height": "{{height}}", "batch_size": "{{n}}"}},
//	"3": {"class_type": "KSampler", "inputs": {"seed": "{{seed}}", "steps": "{{steps}}", "cfg": 7}},
//	"10": {"class_type": "LoadImage", "inputs": {"image": "{{ref1}}"}},
//
// A string that is a placeholder and nothing else becomes the value itself, which is a number for {{width}},
// {{height}}, {{n}}, {{steps}} and {{seed}}; within a longer text a placeholder becomes text. {{prompt}}, {{width}},
// {{height}} and {{seed}} are required. A workflow must save each picture, with that width and height, by a node such
// as SaveImage; previews are ignored. With {{n}} it is submitted once and must save that many pictures; without {{n}}
// it is submitted once for each picture. {{steps}} is what Config.Steps has for the quality.
//
// A workflow with {{ref1}} to {{refN}} takes exactly N reference images: configure one for each
// number that requests may bring. One with {{mask}} takes a mask besides. This node makes of it
// a mask that is 1 where the image is to be made anew:
//
//	"11": {"class_type": "LoadImageMask", "inputs": {"image": "{{mask}}", "channel": "alpha"}}
//
// # The upstream
//
// From ComfyUI's documentation of its routes and its server.py: /prompt queues a workflow, which is
// then called a prompt, under a prompt_id. /queue lists the prompts that wait or run, /history those
// that have ended; ComfyUI forgets both when it restarts. /view sends a saved picture. A POST to
// /queue deletes prompts that wait. /interrupt ends the prompt that is running; older versions end
// whichever that is, so it is called only while /queue shows the prompt at work. /upload/image takes
// up to 100 MB. There is no way to remove a file: references and pictures stay in the input and output
// directories until the operator removes them. ComfyUI knows no key; APIKey is for a proxy before it.
//
// The prompt_id is chosen here, and saved as the job before the prompt is submitted. So work is
// found again after a restart of this service, and submitted only once. An older ComfyUI
// chooses the prompt_id itself; it is saved as soon as it is known.
package comfyui
