package daemon

import (
	"crypto/tls"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// encrypts reports whether the service itself speaks TLS.
func (o Options) encrypts() bool { return o.TLSCert != "" || len(o.ACMEDomains) > 0 }

// secure reports whether callers reach the service only by https, be it through a proxy.
func (o Options) secure() bool { return o.encrypts() || strings.HasPrefix(o.BaseURL, "https://") }

// newTLS returns the TLS configuration of the service; nil if it speaks plain HTTP. Over TLS it speaks HTTP/1.1
// alone: the bound on connections relies on one request at a time on each.
func newTLS(o Options, log *slog.Logger) (*tls.Config, error) {
	switch {
	case len(o.ACMEDomains) > 0:
		return o.acme(log), nil
	case o.TLSCert == "":
		return nil, nil
	}
	c, err := newCertificate(o.TLSCert, o.TLSKey, log)
	if err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.getCertificate,
		NextProtos: []string{"http/1.1"}}, nil
}

// onlyHTTP1 keeps a server from offering HTTP/2 by itself.
func onlyHTTP1() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return p
}

// acme returns a configuration whose certificates are issued when a domain is first asked for, and renewed before
// they expire. The authority checks over port 443 of the domain that it leads here (tls-alpn-01), so no port 80 is
// needed. Account and certificates are kept in the data directory, since authorities limit how many they issue.
func (o Options) acme(log *slog.Logger) *tls.Config {
	m := &autocert.Manager{
		Prompt:     autocert.AcceptTOS,
		Cache:      autocert.DirCache(filepath.Join(o.DataDir, "acme")),
		HostPolicy: autocert.HostWhitelist(o.ACMEDomains...),
		Email:      o.ACMEEmail,
		Client:     &acme.Client{DirectoryURL: o.ACMEDirectory, UserAgent: "imagegend"},
	}
	issue := issuing{m.GetCertificate, o.ACMEDomains, log, new(atomic.Int64)}
	// The authority's own handshake uses the protocol acme-tls/1, which must be offered beside HTTP.
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: issue.getCertificate,
		NextProtos: []string{"http/1.1", acme.ALPNProto}}
}

// issuing logs that a certificate cannot be issued, at most once a minute: each connection would otherwise add a
// line.
type issuing struct {
	certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	domains     []string
	log         *slog.Logger
	logged      *atomic.Int64 // the minute of the last line, counted from 1970
}

// getCertificate is the GetCertificate of a tls.Config. An error about a name that is not ours is not logged: strangers
// ask for any name.
func (i issuing) getCertificate(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
	c, err := i.certificate(h)
	minute := time.Now().Unix() / 60
	// Swap tells one of several handshakes at once that this minute has no line yet.
	if err != nil && slices.Contains(i.domains, strings.ToLower(h.ServerName)) && i.logged.Swap(minute) != minute {
		i.log.Error("no certificate was issued: the domain must lead here by port 443, and the authority must be reached", "domain", h.ServerName, "error", err)
	}
	return c, err
}
