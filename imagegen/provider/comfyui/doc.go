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
// A string that is a placeholder and nothing else becomes the value itself, a number where it is
// one. Required are {{prompt}}, {{width}}, {{height}} and {{seed}}; what a workflow saves is the
// picture, of that width and height. Without {{n}} a workflow is submitted once for each picture.
// {{steps}} follows the quality. A workflow with {{ref1}} to {{refN}} takes exactly N reference
// images; give one for each number that is to be had. One with {{mask}} as well takes that mask, too:
// {"class_type": "LoadImageMask", "inputs": {"image": "{{mask}}", "channel": "alpha"}} is 1 where the
// image is to be made anew.
//
// # The upstream
//
// From ComfyUI's documentation of its routes and its server.py: /prompt queues a workflow and
// answers with a prompt_id; /history has it when it has ended, /queue before; both are forgotten
// when ComfyUI restarts. /view sends a saved picture. /queue deletes what waits; /interrupt ends
// what is running, whichever that is in older versions, so that it is called only while /queue
// shows the prompt at work. /upload/image takes up to 100 MB; ComfyUI has no way to remove a file,
// so that references and pictures stay in its input and output directories until the operator
// removes them. It knows no key: APIKey is for a proxy before it.
//
// The prompt_id is saved as the job: a submission is continued after a restart of this service, and
// made only once.
package comfyui
