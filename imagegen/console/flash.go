package console

import (
	"encoding/base64"
	"net/http"
	"strings"
)

// A flash is a message for the next page, which says what was done. It travels in a cookie of its own, so it survives
// the end of a sign-in and costs no write. Whoever can plant the cookie can choose the text, which templates escape,
// and nothing else.

// maxFlash is how many bytes of a message are sent. Encoded, the cookie then stays below the 4 KiB that browsers
// accept.
const maxFlash = 1000

// setFlash sends a message to the next page, if that is loaded within a minute.
func (p *page) setFlash(message string) {
	message = strings.ToValidUTF8(message[:min(len(message), maxFlash)], "")
	http.SetCookie(p.w, p.c.cookie("flash", base64.RawURLEncoding.EncodeToString([]byte(message)), 60))
}

// takeFlash returns the message and removes it; "" if there is none.
func (p *page) takeFlash() string {
	cookie, err := p.r.Cookie(p.c.cookieName("flash"))
	if err != nil {
		return ""
	}
	http.SetCookie(p.w, p.c.cookie("flash", "", -1))
	message, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil || len(message) > maxFlash {
		return ""
	}
	return strings.ToValidUTF8(string(message), "")
}
