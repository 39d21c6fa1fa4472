package main

import (
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
)

// balance sends each request to the next node. Where that cannot be reached, the caller gets an error, and may try
// again with the same Idempotency-Key: a balancer for production asks the nodes whether they are ready.
func balance(addresses []string) http.Handler {
	var next atomic.Uint64
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			node := addresses[next.Add(1)%uint64(len(addresses))]
			r.SetURL(&url.URL{Scheme: "http", Host: node})
			r.Out.Host = r.In.Host
			r.SetXForwarded()
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			http.Error(w, "a node cannot be reached: "+err.Error(), http.StatusBadGateway)
		},
	}
}
