package console

import (
	"encoding/base64"
	"net/http"
	"strings"
)

// A flash is a message for the next page: what was done. It travels in a cookie of its own, so that it
// survives the end of a sign-in and costs no write; who can set that cookie can set its text, and no more.

// maxFlash is how many bytes of a message are kept, so that the cookie stays within what browsers take.
const maxFlash = 1000

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
