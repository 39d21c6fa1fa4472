package frame

import (
	"maps"
	"net/url"
	"strings"
)

// Address is the address of a page: Config.Root followed by the segments, escaped. It is the template function path. A
// slash in a segment separates, so a segment must not come from a user as it is.
func (f *Frame) Address(segments ...string) string {
	escaped := make([]string, len(segments))
	for i, s := range segments {
		parts := strings.Split(s, "/") // "account/password" is two segments; identifiers have no slash
		for j := range parts {
			parts[j] = url.PathEscape(parts[j])
		}
		escaped[i] = strings.Join(parts, "/")
	}
	return f.Root + strings.Join(escaped, "/")
}

// Here is the address of this page with some parameters of the query changed, given as alternating names and values.
// Empty parameters are left out.
func (p *Page) Here(pairs ...string) string {
	q := p.Query()
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	// Without empty parameters the same page has one address, however one came to it.
	maps.DeleteFunc(q, func(name string, _ []string) bool { return q.Get(name) == "" })
	u := url.URL{Path: p.Request.URL.Path, RawQuery: q.Encode()}
	return u.String()
}

// OriginOf returns the scheme and host of an address; "" if it is not an absolute http or https address.
func OriginOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// Origin is the scheme and host at which the browser reaches this host. Without Config.BaseURL it goes by the Origin
// that browsers send with each form, and only then by the Host header, which a proxy may have changed. Both come from
// the client, so the result is fit only for what that client itself is shown.
func (p *Page) Origin() string {
	if p.BaseURL != "" {
		return OriginOf(p.BaseURL)
	}
	if o := p.Request.Header.Get("Origin"); strings.HasPrefix(o, "https://") || strings.HasPrefix(o, "http://") {
		return o
	}
	if p.Secure {
		return "https://" + p.Request.Host
	}
	return "http://" + p.Request.Host
}

// Local returns the path and query of an address if they lie within the console, otherwise the console's first page.
// So a link to the sign-in page cannot send anybody to another site. A path that begins with two slashes would.
func (f *Frame) Local(address string) string {
	u, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(u.Path, f.Root) || strings.HasPrefix(u.Path, "//") {
		return f.Root
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).RequestURI()
}
