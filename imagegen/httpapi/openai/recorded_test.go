package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi/openai"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// recorded are the bodies that programs send, with the source file that makes each. Those with parts are forms.
var recorded = map[string]struct {
	path, body string
	parts      []part
}{
	// open-webui/open-webui, backend/open_webui/routers/images.py: image_generations, image_edits
	"Open WebUI": {path: generations + "?api-version=2025-04-01-preview",
		body: `{"model": "gpt-image-1", "prompt": "a fox", "n": 1, "size": "1024x1024", "response_format": "b64_json"}`},
	"Open WebUI, edit": {path: edits, parts: []part{{"model", "", "gpt-image-1"}, {"prompt", "", "a fox"},
		{"n", "", "1"}, {"size", "", "1024x1024"}, {"response_format", "", "b64_json"},
		{"image[]", "image.png", picture(30, 30)}, {"image[]", "image.png", picture(40, 30)}}},
	// danny-avila/LibreChat, api/app/clients/tools/structured/OpenAIImageTools.js: imageGenTool, imageEditTool
	"LibreChat": {path: generations,
		body: `{"model":"gpt-image-1","prompt":"a fox","n":1,"background":"auto","output_format":"png","quality":"auto","size":"1024x1024"}`},
	"LibreChat, WebP": {path: generations,
		body: `{"model":"gpt-image-1","prompt":"a fox","n":1,"background":"transparent","output_format":"webp","quality":"high","size":"1024x1024"}`},
	"LibreChat, edit": {path: edits, parts: []part{{"model", "", "gpt-image-1"}, {"prompt", "", "a fox"},
		{"quality", "", "auto"}, {"size", "", "1024x1024"}, {"image[]", "fox.png", picture(30, 30)}}},
	// lobehub/lobe-chat, packages/model-runtime/src/core/openaiCompatibleFactory/createImage.ts: generateByImageMode
	"LobeHub": {path: generations, body: `{"model":"gpt-image-1","n":1,"prompt":"a fox","size":"1024x1024"}`},
	// CherryHQ/cherry-studio, src/renderer/src/pages/paintings/providers/newapi/provider.ts: buildNewApiImageRequest
	"Cherry Studio": {path: generations,
		body: `{"prompt":"a fox","model":"gpt-image-1","size":"1024x1024","background":"opaque","n":1,"quality":"high"}`},
	"Cherry Studio, edit": {path: edits, parts: []part{{"prompt", "", "a fox"}, {"model", "", "gpt-image-1"},
		{"size", "", "1024x1024"}, {"quality", "", "low"}, {"image", "image_0.png", picture(30, 30)},
		{"image", "image_1.png", picture(40, 30)}}},
	// openai/openai-python 3.3.1, src/openai/resources/images.py: generate, edit (the order of the fields);
	// _utils/_json.py: openapi_dumps; _base_client.py: _serialize_multipartform (numbers and booleans as text);
	// _utils/_utils.py: extract_files (image[] for a list, image for one). Bytes without a name are called upload by
	// httpx.
	"OpenAI for Python": {path: generations,
		body: `{"prompt":"a fox","background":"auto","model":"gpt-image-1","moderation":"auto","n":1,"output_format":"png",` +
			`"quality":"high","size":"1024x1024","stream":false,"user":"u"}`},
	"OpenAI for Python, edit": {path: edits, parts: []part{{"prompt", "", "a fox"}, {"model", "", "gpt-image-1"},
		{"n", "", "1"}, {"size", "", "1024x1024"}, {"image[]", "upload", picture(30, 30)},
		{"image[]", "upload", picture(40, 30)}}},
	"OpenAI for Python, edit of one": {path: edits, parts: []part{{"prompt", "", "a fox"}, {"size", "", "1024x1024"},
		{"stream", "", "false"}, {"image", "upload", picture(30, 30)}}},
}

// Requests as other clients send them bring an image of the size that was asked for; the name of the model is an alias.
func TestRecordedBodies(t *testing.T) {
	s := serve(t, openai.Options{}, withAlias)
	for name, c := range recorded {
		s.run(name, func(s *site) {
			contentType, body := "application/json", c.body
			if c.parts != nil {
				contentType, body = formOf(c.parts...)
			}
			s.pictures(s.made(s.post(c.path, body, "Content-Type", contentType)), 1, 1024, 1024)
		})
	}
}

// LobeHub sends input_fidelity with every edit, which no provider declares: it is refused, and not charged.
func TestRecordedEditOfLobeHub(t *testing.T) {
	s := serve(t, openai.Options{}, withAlias)
	contentType, body := formOf(part{"model", "", "gpt-image-1"}, part{"n", "", "1"}, part{"input_fidelity", "",
		"high"}, part{"prompt", "", "a fox"},
		part{"image", "image.png", picture(30, 30)})
	message := s.refused(s.post(edits, body, "Content-Type", contentType), http.StatusBadRequest,
		imagegen.CodeInvalidRequest, "input_fidelity")
	s.is.True(strings.Contains(message, "leave it out"))
	s.untouched()
}

func withAlias(c *engine.Config) {
	c.Models = []engine.Model{{ID: "fake-1", Provider: &provider.Fake{},
		Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1}, Aliases: []string{"gpt-image-1"}}}
}
