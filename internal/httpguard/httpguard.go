// Package httpguard is what every HTTP interface asks of a request before it looks at what the request means, so that
// all of them, and the proxies before them, understand it in the same way.
package httpguard

import (
	"net/http"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// Begin sets what the answer to any request must have. Call it before the answer begins; calling it twice does no harm.
func Begin(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.ProtoMajor == 1 && r.TransferEncoding != nil {
		// The request may have had a Content-Length beside the chunks; net/http drops it and does not say so. If a
		// proxy went by that length, it and net/http disagree on where the next request on this connection begins
		// (request smuggling). So there is no next one.
		w.Header().Set("Connection", "close")
	}
}

// Around calls Begin for every request of a server, also for those that no interface answers.
func Around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Begin(w, r)
		next.ServeHTTP(w, r)
	})
}

// One returns the value of a header that may be sent once; "" if there is none. ErrInvalidRequest: it was sent twice,
// which would leave open which of them counts.
func One(h http.Header, name string) (string, error) {
	if len(h.Values(name)) > 1 {
		return "", imagegen.Invalid("%s was sent twice", name)
	}
	return h.Get(name), nil
}

// CodeUnsupportedEncoding is the code of a body that is compressed: 415.
const CodeUnsupportedEncoding imagegen.Code = "unsupportedEncoding"

// Plain returns an error with CodeUnsupportedEncoding if a body is compressed: no interface reads that. Some clients
// name the character set there of a body that is not.
func Plain(h http.Header) error {
	encoding := strings.Join(h.Values("Content-Encoding"), ", ")
	switch strings.ToLower(encoding) {
	case "", "identity", "utf-8", "utf8":
		return nil
	}
	e := imagegen.Invalid("a body with the Content-Encoding %.40q is not read; send the body as it is, without that header", encoding)
	e.Code = CodeUnsupportedEncoding
	return e
}

// Bearer returns the key that a header carries, without checking its form. Only ASCII spaces separate it from its
// scheme. ErrMissingKey: there is none. ErrInvalidKey: it cannot be read, or there are two headers.
func Bearer(h http.Header) (string, error) {
	sent, err := One(h, "Authorization")
	if err != nil {
		return "", unreadable("the Authorization header was sent twice; send one")
	}
	if strings.Trim(sent, " \t") == "" {
		return "", imagegen.ErrMissingKey
	}
	scheme, key, _ := strings.Cut(sent, " ")
	key = strings.TrimLeft(key, " ")
	if key == "" || !strings.EqualFold(scheme, "Bearer") {
		return "", unreadable("the Authorization header holds no API key that can be read; send Authorization: Bearer <API_KEY>")
	}
	return key, nil
}

func unreadable(message string) error {
	return &imagegen.Error{Code: imagegen.CodeInvalidKey, Message: message}
}
