// Package filename names the files in which images are saved. The names need no quoting in a shell.
package filename

import (
	"strings"
	"unicode"
)

// OfPrompt makes a name from a prompt: its letters and digits in lower case, with a dash in the place of anything
// else between them, up to 40 bytes, or a few more if the last letter takes several. Without letters and digits it is
// "image". The name has no extension, and there may be a file of that name.
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

// Extension returns the extension for files of an image's media type, with the dot: .jpg for
// image/jpeg, and for any other what follows image/.
func Extension(mediaType string) string {
	if mediaType == "image/jpeg" {
		return ".jpg"
	}
	return "." + strings.TrimPrefix(mediaType, "image/")
}
