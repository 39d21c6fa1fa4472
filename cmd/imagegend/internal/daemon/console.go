package daemon

import (
	"context"
	"net/http"
	"strings"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/signin"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/httpapi"
)

// handler serves the API and, unless it is turned off, the console beside it. ctx must last as long as the service
// takes work: with it ends an audit that an operator has begun in the console.
func (d *daemon) handler(ctx context.Context, local *adminserver.Local) (http.Handler, error) {
	api := documented(d.api(), d.options.BaseURL)
	if !d.options.Console {
		return d.options.uncrowded(api, d.listener.perAddress), nil
	}
	settings := console.Config{
		Engine:         d.engine,
		Ledger:         d.db,
		Logins:         d.db,
		ProvisionUsers: d.options.OIDCCreateUsers,
		Operations:     d.operations(ctx),
		Admin:          local,
		Webhooks:       local.Webhooks != nil,
		History:        d.history,
		Money:          console.Money(d.options.Money),
		BaseURL:        d.options.BaseURL,
		Secure:         d.options.secure(),
		OpenAI:         true,
		Brand:          d.brand,
		TrustedProxies: d.options.TrustedProxies,
		Log:            d.log,
	}
	if err := d.addSignIn(&settings); err != nil {
		return nil, err
	}
	c, err := console.New(settings)
	return d.options.uncrowded(beside(api, c), d.listener.perAddress), err
}

// addSignIn adds sign-in by a provider and by passkeys. The fields are interfaces, so they are set only to what
// exists: a nil pointer in them would not be nil.
func (d *daemon) addSignIn(c *console.Config) error {
	provider, err := signin.Provider(d.options.SignIn)
	if err != nil {
		return err
	}
	if provider != nil {
		c.IdentityProvider = provider
	}
	passkeys, err := signin.Passkeys(d.options.Server)
	if err != nil {
		return err
	}
	if passkeys != nil {
		c.Passkeys = passkeys
	}
	c.OperatorsNeedPasskey = d.options.RequirePasskey == config.PasskeyOfOperators
	return nil
}

// beside gives the console what is below its path, and the API everything else. It is not a ServeMux: that would clean
// paths which the API refuses.
func beside(api, c http.Handler) http.Handler {
	c = httpapi.WithRoute(console.DefaultPath, httpapi.WithRequestID(c))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		// The prefix decides on the path as it was sent, before anything cleans it.
		case strings.HasPrefix(r.URL.Path, console.DefaultPath), leads(r):
			c.ServeHTTP(w, r)
		default:
			api.ServeHTTP(w, r)
		}
	})
}

// leads reports whether the console is to answer a request with a redirect to itself: one for its path without the
// slash, or one for the root from a browser. A program that asks for the root gets the API's answer.
func leads(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	return r.URL.Path+"/" == console.DefaultPath || r.URL.Path == "/" && strings.Contains(r.Header.Get("Accept"),
		"text/html")
}

// operations is what the console's operator pages ask the engine. An audit also ends when the service does, and not
// only with the request.
type operations struct {
	console.EngineOperations
	ends context.Context
}

func (d *daemon) operations(ctx context.Context) operations {
	disk := func() (console.Disk, error) {
		s, err := d.db.Space()
		return console.Disk(s), err
	}
	backups := func() console.Backups {
		s := d.backups.State()
		return console.Backups{Every: s.Every, Last: s.Last.At, Trouble: d.backups.Trouble()}
	}
	return operations{console.EngineOperations{Engine: d.engine, Version: d.options.Version, Started: d.began,
		Disk: disk, Backups: backups}, ctx}
}

// Audit implements [console.Operations].
func (o operations) Audit(ctx context.Context) (imagegen.AuditReport, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(o.ends, cancel)()
	return o.EngineOperations.Audit(ctx)
}
