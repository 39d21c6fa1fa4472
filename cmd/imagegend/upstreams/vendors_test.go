package upstreams_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// vendors are the APIs of which docs/providers.md has an example, by its name there.
func vendors() map[string]*vendor {
	return map[string]*vendor{"openrouter": openRouter(), "xai": xAI(), "byteplus": bytePlus(),
		"siliconflow": siliconFlow(), "together": together(), "ideogram": ideogram(), "wavespeed": waveSpeed()}
}

// openRouter answers as realmorrisliu/openrouter-rs, src/api/images.rs, and openrouter.ai/docs on errors have it. The
// usage is that of OpenRouterTeam/docs, guides/overview/multimodal/image-generation.mdx, with the cost in US dollars
// (2026-11-27).
func openRouter() *vendor {
	v := &vendor{keyHeader: "Authorization", probe: "/api/v1/key", bytes: "b64_json", list: "data", count: "n"}
	v.refuse = func(status int, why string) any {
		return object{"error": object{"code": status, "message": why, "metadata": object{}}}
	}
	v.moderated = func(w http.ResponseWriter) { v.fail(w, http.StatusForbidden, "Your input was flagged") }
	v.size = func(f object) string { return usual(f["aspect_ratio"], f["resolution"]) }
	v.usage = object{"prompt_tokens": 0, "completion_tokens": 4175, "total_tokens": 4175, "cost": 0.04}
	v.endpoints = map[string]endpoint{"/api/v1/images": {fields: []string{"model", "prompt", "aspect_ratio",
		"background", "input_references", "n", "output_compression", "output_format", "provider", "quality",
		"resolution", "seed", "size", "stream"}, check: func(f object) error {
		return errors.Join(among(f, "model", "bytedance-seed/seedream-4.5"), among(f, "resolution", "2K", "4K"),
			among(f, "aspect_ratio", "1:1", "4:3", "3:4", "3:2", "2:3", "16:9", "9:16", "21:9"),
			referenceObjects(f["input_references"], 10, "image_url"))
	}}}
	return v
}

// xAI answers as vercel/ai, packages/xai/src/xai-image-model.ts, and docs.x.ai have it; what version 2.0 takes besides,
// docs.x.ai/developers/migration/imagine-image-quality-nov-2.
func xAI() *vendor {
	v := &vendor{keyHeader: "Authorization", probe: "/v1/models", bytes: "b64_json", list: "data", count: "n"}
	v.refuse = func(_ int, why string) any {
		return object{"code": "Client specified an invalid argument", "error": why}
	}
	v.moderated = func(w http.ResponseWriter) {
		answer(w, object{"data": []object{{"url": nil, "b64_json": nil, "respect_moderation": false}}})
	}
	v.size = func(f object) string { return usual(f["aspect_ratio"], f["resolution"]) }
	common := func(f object) error {
		return errors.Join(among(f, "model", "grok-imagine-image-2.0"), among(f, "resolution", "1k", "2k"),
			between(f, "n", 1, 10), among(f, "response_format", "b64_json"), among(f, "quality", "low", "medium"),
			among(f, "aspect_ratio", "auto", "1:1", "4:3", "3:4", "3:2", "2:3", "16:9", "9:16", "2:1", "1:2", "21:9",
				"5:2"))
	}
	fields := []string{"model", "prompt", "n", "response_format", "aspect_ratio", "resolution", "quality", "user",
		"output_format"}
	v.endpoints = map[string]endpoint{
		"/v1/images/generations": {fields: fields, check: common},
		"/v1/images/edits": {fields: append(slices.Clone(fields), "image", "images"), check: func(f object) error {
			if f["images"] == nil {
				return errors.New("an image is required")
			}
			return errors.Join(common(f), referenceObjects(f["images"], 5, ""))
		}},
	}
	return v
}

// bytePlus answers as vercel/ai, packages/bytedance/src/bytedance-image-model.ts, and BytePlus' reference of errors
// have it.
func bytePlus() *vendor {
	v := &vendor{keyHeader: "Authorization", bytes: "b64_json", list: "data"}
	v.refuse = func(status int, why string) any {
		return object{"error": object{"code": map[int]string{401: "AuthenticationError"}[status], "message": why,
			"param": "", "type": "BadRequest"}}
	}
	v.moderated = func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusBadRequest)
		answer(w, object{"error": object{"code": "InputTextSensitiveContentDetected", "message": "The request failed.",
			"type": "BadRequest"}})
	}
	v.size = func(f object) string { return fmt.Sprint(f["size"]) }
	v.endpoints = map[string]endpoint{"/api/v3/images/generations": {fields: []string{"model", "prompt", "image",
		"size", "seed", "response_format", "watermark", "sequential_image_generation",
		"sequential_image_generation_options", "optimize_prompt_options", "stream"}, check: func(f object) error {
		z, err := imagegen.ParseSize(fmt.Sprint(f["size"]))
		if err != nil || z.Area() < 2560*1440 || z.Area() > 4096*4096 || z.Width > 16*z.Height ||
			z.Height > 16*z.Width {
			return fmt.Errorf("size %v", f["size"])
		}
		images, list := f["image"].([]any)
		if f["image"] != nil && (!list || len(images) > 14 || slices.ContainsFunc(images, func(i any) bool {
			return !isImage(i)
		})) {
			return errors.New("image is not a list of up to 14 images")
		}
		return errors.Join(among(f, "model", "seedream-4-5-251128"), among(f, "response_format", "url", "b64_json"),
			among(f, "watermark", "true", "false"), among(f, "sequential_image_generation", "auto", "disabled"))
	}}}
	return v
}

// siliconFlow answers as docs.siliconflow.com/en/api-reference/images/images-generations has it for Kolors.
func siliconFlow() *vendor {
	v := &vendor{keyHeader: "Authorization", probe: "/v1/models", link: "url", list: "images", count: "batch_size"}
	v.refuse = func(_ int, why string) any { return object{"code": 20012, "message": why, "data": nil} }
	v.moderated = func(w http.ResponseWriter) { v.fail(w, http.StatusBadRequest, "the prompt is not permitted") }
	v.size = func(f object) string { return fmt.Sprint(f["image_size"]) }
	v.endpoints = map[string]endpoint{"/v1/images/generations": {fields: []string{"model", "prompt", "negative_prompt",
		"image_size", "batch_size", "seed", "num_inference_steps", "guidance_scale", "image"},
		check: func(f object) error {
			if f["image"] != nil && !isImage(f["image"]) {
				return errors.New("image is none")
			}
			return errors.Join(among(f, "model", "Kwai-Kolors/Kolors"), among(f, "image_size", "1024x1024", "960x1280",
				"768x1024", "720x1440", "720x1280"),
				between(f, "batch_size", 1, 4), between(f, "num_inference_steps", 1, 100))
		}}}
	return v
}

// together answers as vercel/ai, packages/togetherai/src/togetherai-image-model.ts, and
// docs.together.ai/docs/error-codes have it.
func together() *vendor {
	v := &vendor{keyHeader: "Authorization", probe: "/v1/models", bytes: "b64_json", list: "data", count: "n"}
	v.refuse = func(_ int, why string) any {
		return object{"error": object{"message": why, "type": "invalid_request_error", "param": nil, "code": nil}}
	}
	v.moderated = func(w http.ResponseWriter) {
		v.fail(w, http.StatusUnprocessableEntity, "the prompt is not permitted")
	}
	v.size = func(f object) string { return fmt.Sprintf("%vx%v", f["width"], f["height"]) }
	v.endpoints = map[string]endpoint{"/v1/images/generations": {fields: []string{"model", "prompt", "width", "height",
		"n", "steps", "seed", "image_url", "negative_prompt", "response_format", "guidance_scale", "output_format",
		"disable_safety_checker"}, check: func(f object) error {
		if f["image_url"] != nil && !isImage(f["image_url"]) {
			return errors.New("image_url is none")
		}
		return errors.Join(among(f, "model", "black-forest-labs/FLUX.1-kontext-pro"), among(f, "response_format",
			"base64", "url"),
			between(f, "width", 64, 1792), between(f, "height", 64, 1792), between(f, "n", 1, 4))
	}}}
	return v
}

// ideogram answers as Comfy-Org/ComfyUI, comfy_api_nodes/apis/ideogram_api.py, and runware.ai/docs/models/ideogram-3-0
// have it.
func ideogram() *vendor {
	v := &vendor{keyHeader: "Api-Key", link: "url", list: "data", count: "num_images"}
	v.refuse = func(_ int, why string) any { return object{"error": why} }
	v.moderated = func(w http.ResponseWriter) {
		answer(w, object{"created": "2026-11-22T00:00:00Z", "data": []object{{"url": nil, "is_image_safe": false,
			"prompt": forbidden, "resolution": "1024x1024", "seed": 1}}})
	}
	v.size = func(f object) string { return fmt.Sprint(f["resolution"]) }
	fields := []string{"prompt", "seed", "resolution", "aspect_ratio", "rendering_speed", "magic_prompt",
		"negative_prompt", "num_images", "color_palette", "style_codes", "style_type", "style_reference_images",
		"character_reference_images"}
	resolutions := strings.Fields("1024x1024 1152x864 864x1152 1248x832 832x1248 1312x736 736x1312 1120x896 896x1120 1408x704 704x1408 1280x704 1344x768 1536x512")
	common := func(f object) error {
		return errors.Join(among(f, "resolution", resolutions...), among(f, "rendering_speed", "FLASH", "TURBO",
			"DEFAULT", "QUALITY"), between(f, "num_images", 1, 8))
	}
	v.endpoints = map[string]endpoint{
		"/v1/ideogram-v3/generate": {fields: fields, form: true, check: common},
		"/v1/ideogram-v3/remix": {fields: append(slices.Clone(fields), "image", "image_weight"), form: true,
			check: func(f object) error {
				if !isImage(f["image"]) {
					return errors.New("image is none")
				}
				return common(f)
			}},
	}
	return v
}

// waveSpeed answers as wavespeed.ai/docs, sync-mode and upload-files-api, and
// wavespeed.ai/models/bytedance/seedream-v4/sequential have it.
func waveSpeed() *vendor {
	v := &vendor{keyHeader: "Authorization", list: "data", uploads: "/api/v3/media/upload/binary"}
	v.refuse = func(status int, why string) any { return object{"code": status, "message": why} }
	v.moderated = func(w http.ResponseWriter) {
		answer(w, object{"code": 200, "message": "success", "data": object{"status": "failed", "outputs": []any{},
			"error": "the content may be sensitive"}})
	}
	v.size = func(f object) string { return strings.ReplaceAll(fmt.Sprint(f["size"]), "*", "x") }
	v.answer = func(addresses []string) any {
		return object{"code": 200, "message": "success", "data": object{"id": "1", "status": "completed",
			"outputs": addresses, "error": ""}}
	}
	common := func(f object) error {
		z, err := imagegen.ParseSize(v.size(f))
		if err != nil || z.Area() < 2560*1440 || z.Area() > 4096*4096 {
			return fmt.Errorf("size %v", f["size"])
		}
		return among(f, "enable_sync_mode", "true")
	}
	fields := []string{"prompt", "size", "enable_base64_output", "enable_sync_mode"}
	v.endpoints = map[string]endpoint{
		"/api/v3/bytedance/seedream-v4.5": {fields: fields, check: common},
		"/api/v3/bytedance/seedream-v4.5/edit": {fields: append(slices.Clone(fields), "images"),
			check: func(f object) error {
				images, _ := f["images"].([]any)
				if len(images) < 1 || len(images) > 10 || slices.ContainsFunc(images, func(i any) bool {
					return !v.has(i)
				}) {
					return fmt.Errorf("%v is not a list of 1 to 10 addresses", f["images"])
				}
				return common(f)
			}},
	}
	return v
}

// usual is the usual size of a ratio and tier.
func usual(ratio, tier any) string {
	return imagegen.SizeFor(imagegen.Ratio(fmt.Sprint(ratio)), imagegen.Tier(strings.ToUpper(fmt.Sprint(tier)))).
		String()
}

// referenceObjects refuses what is not a list of up to so many images, each with its type and, in an object of that
// name if there is one, its address.
func referenceObjects(v any, most int, within string) error {
	list, ok := v.([]any)
	if v == nil {
		return nil
	}
	if !ok || len(list) < 1 || len(list) > most {
		return fmt.Errorf("%v is not a list of 1 to %d images", v, most)
	}
	for _, element := range list {
		o, _ := element.(object)
		place := o
		if within != "" {
			place, _ = o[within].(object)
		}
		if len(o) != 2 || o["type"] != "image_url" || !isImage(place["url"]) {
			return errors.New("an element is not an image")
		}
	}
	return nil
}
