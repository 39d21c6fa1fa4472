package conformance_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// docs/api.md tells users of every path, field, code and header that the documents name.
func TestUserDocumentation(t *testing.T) {
	is := is.New(t)
	content, err := os.ReadFile(filepath.Join(root, "docs", "api.md"))
	is.NoErr(err)
	api := string(content)
	names := []string{
		"/api/v1/models", "/api/v1/credits", "/api/v1/images/generations", "/api/v1/generations", "/images/",
		"/healthz", "/readyz", "missingApiKey", "invalidApiKey", "expiredApiKey", "invalid_request",
		"insufficientCredits", "notFound", "methodNotAllowed", "preconditionFailed", "notCancellable", "cancelled",
		"rangeNotSatisfiable", "generationFailed", "idempotencyKeyReused", "idempotencyKeyInUse", "rateLimited",
		"overloaded", "internalError", "Idempotency-Key", "Idempotent-Replayed", "X-Request-Id", "Location",
		"Retry-After", "x-should-retry", "WWW-Authenticate", "ETag", "Allow", "reference_image[]", "image[]", "queued",
		"processing", "succeeded", "failed", "limit", "after", "status", "has_more", "next_cursor", "32,000", "50 MiB",
		"100 megapixels", "800", "16 to 8192", "1.7 million", "4.4 million", "img_live_",
	}
	for name := range succeeded("", 1) {
		names = append(names, name)
	}
	for name := range succeeded("", 1)["images"].([]any)[0].(object) {
		names = append(names, name)
	}
	names = append(names, regexp.MustCompile(`\[fake:\w+`).FindAllString(contract(t), -1)...)
	for _, name := range names {
		if !strings.Contains(api, name) {
			t.Errorf("docs/api.md does not mention %s", name)
		}
	}
}

func contract(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "docs", "contract.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
