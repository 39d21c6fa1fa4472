package daemon

import (
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/pprof"
	"net/netip"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/internal/clientaddr"
)

// profilesPath is where net/http/pprof expects to be: its index links to paths below it.
const profilesPath = "/debug/pprof/"

// opsTLS returns what the address for operators speaks. On this machine, and without --ops-admin, that is plain HTTP,
// as monitoring expects it; elsewhere it is what the service speaks.
func (d *daemon) opsTLS() *tls.Config {
	if !d.options.OpsAdmin || loopback(d.ops) {
		return nil
	}
	return d.tls
}

// operating serves operators' programs and monitoring, on the address for operators. Without --ops-admin it is
// monitoring alone.
func (d *daemon) operating(l *adminserver.Local, watching *http.ServeMux) http.Handler {
	if !d.options.OpsAdmin {
		return watching
	}
	ops := &adminserver.Ops{Local: l, Verify: l.OperatorKeys().Verify, Address: d.opsAddress, Log: d.log}
	mux := http.NewServeMux()
	mux.Handle(adminserver.OpsPath, ops.Handler())
	mux.Handle(profilesPath, ops.Guard(func(*http.Request) (account.Scope, string, bool) {
		return account.ScopeAll, profilesPath, true
	}, profiles()))
	return ahead(mux, watching)
}

// opsAddress returns the address that a program calls from. It refuses a request that could have been read on its
// way: without TLS, and neither from this machine nor from a trusted proxy. The proxies of the service are trusted
// here too.
func (d *daemon) opsAddress(r *http.Request) (netip.Addr, error) {
	peer := clientaddr.Peer(r.RemoteAddr).Unmap()
	if r.TLS == nil && !peer.IsLoopback() && !clientaddr.Among(peer, d.options.TrustedProxies) {
		return peer,
			errors.New("an operator key was sent in the clear; call through the proxy that speaks TLS, and revoke this key")
	}
	return clientaddr.Of(r, d.options.TrustedProxies), nil
}

// profiles serves the profiles of the process. A command line can hold secrets, so they are for operators with every
// right.
func profiles() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc(profilesPath, pprof.Index)
	mux.HandleFunc(profilesPath+"cmdline", pprof.Cmdline)
	mux.HandleFunc(profilesPath+"profile", pprof.Profile)
	mux.HandleFunc(profilesPath+"symbol", pprof.Symbol)
	mux.HandleFunc(profilesPath+"trace", pprof.Trace)
	return mux
}
