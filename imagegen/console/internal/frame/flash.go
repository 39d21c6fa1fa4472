package frame

import (
	"encoding/base64"
	"strings"
	"time"
)

// A flash is a message for the next page, which says what was done. It travels in a cookie of its own, so it survives
// the end of a sign-in and costs no write. Somebody who can plant the cookie can choose the text, which templates
// escape, and nothing else.

// maxFlash is how many bytes of a message are sent. Encoded, the cookie then stays below the 4 KiB that browsers
// accept.
const maxFlash = 1000

// SetFlash sends a message to the next page, if that is loaded within a minute.
func (p *Page) SetFlash(message string) {
	message = strings.ToValidUTF8(message[:min(len(message), maxFlash)], "")
	p.SetCookie("flash", base64.RawURLEncoding.EncodeToString([]byte(message)), time.Minute)
}

// takeFlash returns the message and removes it; "" if there is none.
func (p *Page) takeFlash() string {
	value, ok := p.Cookie("flash")
	if !ok {
		return ""
	}
	p.RemoveCookie("flash")
	message, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil || len(message) > maxFlash {
		return ""
	}
	return strings.ToValidUTF8(string(message), "")
}
