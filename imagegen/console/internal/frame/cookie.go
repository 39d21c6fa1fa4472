package frame

import (
	"net/http"
	"time"
)

// cookieName returns the name of a cookie; what "" means the one that holds the sign-in. A browser accepts a __Host-
// name only from this host itself, over https and for all paths, so no other host of the domain can plant such a
// cookie.
func (f *Frame) cookieName(what string) string {
	name := "imagegen"
	if what != "" {
		name += "-" + what
	}
	if f.Secure {
		return "__Host-" + name
	}
	return name
}

// Cookie returns the value of a cookie; ok is false if the browser has sent none.
func (p *Page) Cookie(what string) (value string, ok bool) {
	cookie, err := p.Request.Cookie(p.cookieName(what))
	if err != nil {
		return "", false
	}
	return cookie.Value, true
}

// SetCookie sets a cookie that scripts cannot read; age 0: until the browser is closed.
func (p *Page) SetCookie(what, value string, age time.Duration) {
	p.writeCookie(what, value, int(age/time.Second))
}

// RemoveCookie removes a cookie.
func (p *Page) RemoveCookie(what string) { p.writeCookie(what, "", -1) }

// writeCookie takes maxAge as net/http does. SameSite=Lax keeps the cookie on the way back from an identity provider,
// which is a GET from another site.
func (p *Page) writeCookie(what, value string, maxAge int) {
	k := &http.Cookie{Name: p.cookieName(what), Value: value, Path: p.Root, MaxAge: maxAge,
		HttpOnly: true, Secure: p.Secure, SameSite: http.SameSiteLaxMode}
	if p.Secure {
		k.Path = "/" // which __Host- requires
	}
	http.SetCookie(p.Writer, k)
}

// Seal seals a value for the browser to carry, until age has passed; see package seal.
func (p *Page) Seal(kind, owner string, age time.Duration, v any) (string, error) {
	return p.sealer.Seal(p.Context(), kind, owner, p.Now.Add(age), v)
}

// Unseal opens what Seal has sealed. ok is false if it does not open.
func (p *Page) Unseal(kind, owner, value string, v any) (ok bool, err error) {
	return p.sealer.Unseal(p.Context(), p.Now, kind, owner, value, v)
}

// UsedFirst reports whether a sealed value is used for the first time. It is a write, so it comes after the proof that
// the value was for.
func (p *Page) UsedFirst(value string) (bool, error) {
	return p.sealer.UsedFirst(p.Context(), p.Now, value)
}
