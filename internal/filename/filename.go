// Package filename names the files in which images are saved. The names need no quoting in a shell.
package filename

import (
	"strings"
	"unicode"
)

// OfPrompt makes a name of a prompt: its letters and digits in lower case, with a dash between words, up to 40 bytes
// or a little more where the last letter takes several. A prompt without letters and digits gives "image". The name
// has no extension, and a file of that name may exist.
func OfPrompt(prompt string) string {
	const longest = 40
	var b strings.Builder
	for _, r := range strings.ToLower(prompt) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			r = '-'
		}
		if r != '-' || b.Len() > 0 && !strings.HasSuffix(b.String(), "-") {
			b.WriteRune(r)
		}
		if b.Len() >= longest {
			break
		}
	}
	if name := strings.Trim(b.String(), "-"); name != "" {
		return name
	}
	return "image"
}

// Extension returns the extension of an image's media type, with the dot.
func Extension(mediaType string) string {
	if mediaType == "image/jpeg" {
		return ".jpg"
	}
	return "." + strings.TrimPrefix(mediaType, "image/")
}
