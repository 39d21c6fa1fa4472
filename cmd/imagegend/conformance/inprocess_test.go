package conformance_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/catalog"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// startInProcess serves an engine over the memory storage.
func startInProcess(t *testing.T, s settings) *service {
	t.Helper()
	return startEngine(t, s, func(*engine.Config) {})
}

// startEngine lets the configuration be changed in ways that an embedder has, and the daemon has not.
func startEngine(t *testing.T, s settings, change func(*engine.Config)) *service {
	t.Helper()
	is := is.New(t)
	logged := new(daemontest.Output)
	log := slog.New(httpapi.NewLogHandler(slog.NewJSONHandler(logged, nil)))
	db := memory.New(nil)
	cfg := engine.Config{Store: db, Ledger: db, Models: s.catalog(t),
		Limits: engine.Limits{Concurrency: s.concurrency, MaxQueued: s.maxQueued, FairShares: true,
			SlotWait: s.slotWait},
		Attempts: engine.Attempts{Timeout: s.attemptTimeout}, Log: log}
	if s.policy == "quality-first" {
		cfg.Policy = engine.QualityFirst
	}
	change(&cfg)
	e, err := engine.New(cfg)
	is.NoErr(err)
	is.NoErr(e.Start())
	server := httptest.NewServer(httpapi.NewHandler(e, s.options(t, log)))
	t.Cleanup(func() {
		now, cancel := context.WithCancel(context.Background())
		cancel() // hanging work is not waited for
		e.Stop(now)
		server.Close()
	})
	return &service{url: server.URL, operator: inProcess{e.Accounts(), db}, start: startInProcess, log: logged.String}
}

// catalog is what the models file says.
func (s settings) catalog(t *testing.T) []engine.Model {
	t.Helper()
	if s.models == "" {
		return catalog.Default(catalog.Options{})
	}
	models, err := catalog.Load(s.modelsFile(t), catalog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return models
}

// modelsFile writes the models file.
func (s settings) modelsFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "models.yaml")
	if err := os.WriteFile(file, []byte(s.models), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func (s settings) options(t *testing.T, log *slog.Logger) httpapi.Options {
	t.Helper()
	o := httpapi.Options{BaseURL: s.baseURL, Log: log}
	if s.corsOrigin != "" {
		o.CORSOrigins = []string{s.corsOrigin}
	}
	if s.trustedProxy != "" {
		proxy, err := netip.ParsePrefix(s.trustedProxy)
		if err != nil {
			t.Fatal(err)
		}
		o.TrustedProxies = []netip.Prefix{proxy}
	}
	return o
}

// inProcess is the operator of a service in this process.
type inProcess struct {
	*account.Accounts
	books imagegen.CreditAdmin
}

func (o inProcess) user(t *testing.T, name string) imagegen.UserID {
	t.Helper()
	u, err := o.UserByName(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return u.ID
}

func (o inProcess) createUser(t *testing.T, name string) {
	t.Helper()
	_, err := o.CreateUser(t.Context(), name, "")
	is.New(t).NoErr(err)
}

func (o inProcess) setAccountType(t *testing.T, user, accountType string) {
	t.Helper()
	is.New(t).NoErr(o.SetAccountType(t.Context(), o.user(t, user), accountType))
}

func (o inProcess) disableUser(t *testing.T, user string) {
	t.Helper()
	is.New(t).NoErr(o.DisableUser(t.Context(), o.user(t, user)))
}

func (o inProcess) createKey(t *testing.T, user string, lifetime time.Duration) string {
	t.Helper()
	raw, _, err := o.MintKey(t.Context(), o.user(t, user), "", expiry(lifetime))
	is.New(t).NoErr(err)
	return raw.Reveal()
}

func (o inProcess) revokeKey(t *testing.T, user, raw string) {
	t.Helper()
	is := is.New(t)
	keys, err := o.Keys(t.Context(), o.user(t, user))
	is.NoErr(err)
	for _, k := range keys {
		if strings.HasPrefix(raw, k.Prefix) {
			_, err := o.RevokeKey(t.Context(), k.ID)
			is.NoErr(err)
			return
		}
	}
	t.Fatal("there is no such key")
}

func (o inProcess) grant(t *testing.T, user string, credits int, lifetime time.Duration) {
	t.Helper()
	_, err := o.books.Grant(t.Context(), imagegen.Grant{User: o.user(t, user), Credits: imagegen.Credits(credits),
		Expires: expiry(lifetime)})
	is.New(t).NoErr(err)
}

func expiry(lifetime time.Duration) time.Time {
	if lifetime == 0 {
		return time.Time{}
	}
	return time.Now().Add(lifetime)
}
