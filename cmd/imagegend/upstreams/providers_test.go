package upstreams_test

import (
	"encoding/base64"
	"strconv"
	"strings"
	"testing"
)

// The key of every upstream, which stands in the environment under this name.
const (
	keyName = "UPSTREAM_KEY"
	theKey  = "upstream-key-that-must-not-be-seen"
	user    = "operator" // of sdwebui, whose password is the key
)

// credentials are the key as it may be sent.
var credentials = []string{theKey, base64.StdEncoding.EncodeToString([]byte(user + ":" + theKey))}

// carries reports whether a text holds the key.
func carries(text string) bool {
	for _, c := range credentials {
		if strings.Contains(text, c) {
			return true
		}
	}
	return false
}

// allProviders are blocks for each adapter, for an upstream at ADDRESS that wants the key.
var allProviders = map[string]string{
	"openai":    `{type: openai, image_hosts: [IMAGES], base_url: ADDRESS/v1, private: true, key_env: UPSTREAM_KEY}`,
	"gemini":    `{type: gemini, base_url: ADDRESS/v1beta, private: true, key_env: UPSTREAM_KEY}`,
	"sdwebui":   `{type: sdwebui, base_url: ADDRESS, user: operator, password_env: UPSTREAM_KEY}`,
	"comfyui":   `{type: comfyui, base_url: ADDRESS, key_env: UPSTREAM_KEY, workflows: [fox.json]}`,
	"bfl":       `{type: bfl, image_hosts: [IMAGES], base_url: ADDRESS/v1, private: true, key_env: UPSTREAM_KEY, poll_interval: 10ms}`,
	"replicate": `{type: replicate, image_hosts: [IMAGES], base_url: ADDRESS/v1, private: true, key_env: UPSTREAM_KEY, poll_interval: 10ms, model: acme/fox, input: {prompt: "{{prompt}}"}, sizes: [1024x1024]}`,
	"fal":       `{type: fal, image_hosts: [IMAGES], base_url: ADDRESS, platform_url: ADDRESS/platform, private: true, key_env: UPSTREAM_KEY, poll_interval: 10ms, model: acme/fox, sizes: [1024x1024]}`,
}

// providersAt writes models.yaml with a model of each adapter's name. Images may come from the address, or from
// those that are given.
func providersAt(t *testing.T, address string, images ...string) (models string) {
	t.Helper()
	var hosts []string
	for _, a := range append(images, address) {
		hosts = append(hosts, strconv.Quote(strings.TrimPrefix(a, "http://")))
	}
	blocks := map[string]string{}
	for name, block := range allProviders {
		blocks[name] = strings.NewReplacer("ADDRESS", address, "IMAGES", strings.Join(hosts, ", ")).Replace(block)
	}
	return modelsFile(t, blocks, map[string]string{"fox.json": workflow})
}
