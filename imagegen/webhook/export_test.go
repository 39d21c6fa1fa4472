package webhook

import "net/http"

// Through has all endpoints reached by a transport of a test's.
func (d *Deliverer) Through(t http.RoundTripper) {
	for _, e := range d.endpoints {
		e.client.Transport = t
	}
}

// Signatures signs as the endpoint of that number does.
func (d *Deliverer) Signatures(n int, id, at string, body []byte) string {
	return d.endpoints[n].signatures(id, at, body)
}
