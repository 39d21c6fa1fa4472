package console

import (
	"maps"
	"net/url"
	"strings"
)

// path is the address of a page: Config.Path and the segments, each of them escaped.
func (c *Console) path(segments ...string) string {
	escaped := make([]string, len(segments))
	for i, s := range segments {
		parts := strings.Split(s, "/") // "account/password" is two segments; an identifier has no slash
		for j := range parts {
			parts[j] = url.PathEscape(parts[j])
		}
		escaped[i] = strings.Join(parts, "/")
	}
	return c.cfg.Path + strings.Join(escaped, "/")
}

// here is the address of this page with parameters changed, names and values in turn. What is empty is left out.
func (p *page) here(pairs ...string) string {
	q := p.r.URL.Query()
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	maps.DeleteFunc(q, func(name string, _ []string) bool { return q.Get(name) == "" })
	u := url.URL{Path: p.r.URL.Path, RawQuery: q.Encode()}
	return u.String()
}

// pager leads through a list by cursor; the template "pager" draws it.
type pager struct{ First, Next string }

// pager makes the links of a page whose query parameter name holds the cursor. next "" means that
// this is the last page.
func (p *page) pager(name, next string) (links pager) {
	if p.r.URL.Query().Get(name) != "" {
		links.First = p.here(name, "")
	}
	if next != "" {
		links.Next = p.here(name, next)
	}
	return links
}

// origin is scheme and host of an address; "" if it has none.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// origin is where the browser reaches this host, as configured; otherwise a browser says so with each
// form, and a proxy may have changed the Host.
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
