// Package filename names the files in which images are saved.
package filename

import (
	"strings"
	"unicode"
)

// OfPrompt makes a name of a prompt: its letters and digits, in small letters with a dash between the words, as far as
// they have room.
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

// Extension is how the name of an image of a media type ends, with the dot.
func Extension(mediaType string) string {
	if mediaType == "image/jpeg" {
		return ".jpg"
	}
	return "." + strings.TrimPrefix(mediaType, "image/")
}
