package console

import (
	"maps"
	"net/url"
	"strings"
)

// path is the address of a page: Config.Path followed by the segments, escaped. It is also a template function. A
// slash in a segment separates, so a segment must not come from a user as it is.
func (c *Console) path(segments ...string) string {
	escaped := make([]string, len(segments))
	for i, s := range segments {
		parts := strings.Split(s, "/") // "account/password" is two segments; identifiers have no slash
		for j := range parts {
			parts[j] = url.PathEscape(parts[j])
		}
		escaped[i] = strings.Join(parts, "/")
	}
	return c.cfg.Path + strings.Join(escaped, "/")
}

// here is the address of this page with some parameters of the query changed, given as alternating names and values.
// Empty parameters are left out.
func (p *page) here(pairs ...string) string {
	q := p.r.URL.Query()
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	// Without empty parameters the same page has one address, however one came to it.
	maps.DeleteFunc(q, func(name string, _ []string) bool { return q.Get(name) == "" })
	u := url.URL{Path: p.r.URL.Path, RawQuery: q.Encode()}
	return u.String()
}

// pager is the links through a list, for the template "pager": to the first page, unless this is it, and to the next
// one, if there is any. A list has cursors instead of numbers of pages, so new items do not shift the pages.
type pager struct{ First, Next string }

// pager returns the links of a page whose cursor is the query parameter name. next is the cursor of the next page;
// "": this is the last.
func (p *page) pager(name, next string) (links pager) {
	if p.r.URL.Query().Get(name) != "" {
		links.First = p.here(name, "")
	}
	if next != "" {
		links.Next = p.here(name, next)
	}
	return links
}

// origin returns the scheme and host of an address; "" if it is not an absolute http or https address.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// origin is the scheme and host at which the browser reaches this host. Without Config.BaseURL it goes by the Origin
// that browsers send with each form, and only then by the Host header, which a proxy may have changed. Both come from
// the client, so the result is fit only for what that client itself is shown.
func (p *page) origin() string {
	if p.c.cfg.BaseURL != "" {
		return origin(p.c.cfg.BaseURL)
	}
	if o := p.r.Header.Get("Origin"); strings.HasPrefix(o, "https://") || strings.HasPrefix(o, "http://") {
		return o
	}
	if p.c.cfg.Secure {
		return "https://" + p.r.Host
	}
	return "http://" + p.r.Host
}
