// Package daemon runs the service: an engine over a data directory, served over HTTP and, for operators, on a socket,
// from its first line of output to the drain at its end.
//
// [Run] is the life of a server: it opens everything in an order in which a mistake shows before anything is changed,
// serves, and drains. A file belongs to each concern: what listens (listen.go, connections.go, tls.go, ops.go), who
// may have how much at once (crowd.go), what is served (api.go, console.go, opsadmin.go), the models' reload
// (reload.go), the end (drain.go). [Sandbox] is the service without a server, for one command. What a request means
// is decided in package engine.
package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/branding"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/catalog"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/private"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/tracing"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/metrics"
	"github.com/imagegend/imagegend/imagegen/otel"
)

// Options says how to serve.
type Options struct {
	config.Settings
	File string // path of the configuration file; "": none was read
	// ModelsFile returns the file with models, or catalog.Fake. It is called at the start and at each reload.
	ModelsFile func() (string, error)
	Warnings   []string // for the announcement at the start
	Version    string
	// The output is a terminal: text rather than JSON, unless the settings say otherwise.
	Human  bool
	Output io.Writer // for the announcement and the log
}

// daemon is a running service. Run, waitForEnd and reload, which fill the fields, share one goroutine. What other
// goroutines read of them is set before they start and does not change, or is safe for concurrent use.
type daemon struct {
	options Options
	brand   console.Brand
	log     *slog.Logger
	began   time.Time
	*node
	// The models as they were last read, retired ones too; of Run's goroutine alone.
	offered  []engine.Model
	models   []imagegen.ModelInfo // those on offer; of Run's goroutine alone
	listener *connections
	tls      *tls.Config // nil: the service speaks plain HTTP
	answers  *answers
	http     *http.Server
	socket   net.Listener // of admin
	admin    *http.Server
	ops      *ops // nil: there is no address for operators
	backups  *backing
	hooks    hooks
	metrics  *metrics.Metrics
	history  *console.History // nil: there is no console
	tracer   *otel.Tracer     // nil: no traces are sent
	devKey   imagegen.Secret  // "" without --dev
	// Receives the error of a server that ended by itself; has room for all three servers.
	ended chan error
}

// Run serves until ctx ends, then drains; a second signal during the drain ends it at once. It returns an error if
// the service could not start or drain. adminserver.ErrDisk means that the disk failed under a commit: the process must
// exit and not go on. The settings must have passed Check, which knows how they go together.
//
// The order is part of the contract. First the settings are checked that need no data, and both TCP addresses are
// taken, so that a service that cannot run makes and changes nothing. Then the models are read, the data is opened and
// thereby locked, the directory for backups is locked and the engine started. Only then is the service announced as
// ready.
func Run(ctx context.Context, o Options) (err error) {
	tuneMemory()
	// The reader of the log, a pipe, may go away. That must fail a write, and not end the service or hide the
	// status with which it ends.
	signal.Ignore(syscall.SIGPIPE)
	log := newLog(o)
	hangUps, stop := o.hangUps()
	defer stop()
	d := &daemon{options: o, began: time.Now(), log: log, answers: newAnswers(), metrics: metrics.New(),
		backups: new(backing), ended: make(chan error, 3)}
	if o.Console {
		d.history = console.NewHistory(time.Now)
	}
	var sendTraces func()
	// Settings that need no data, each of which may be wrong. The deferred calls run in reverse order when the
	// service ends.
	if d.tracer, sendTraces, err = tracing.Start(ctx, o.Version, log); err != nil {
		return err
	}
	defer sendTraces()
	if d.brand, err = branding.Load(o.Server); err != nil {
		return err
	}
	if d.tls, err = newTLS(o, log); err != nil {
		return err
	}
	// The addresses, before anything is written: a second server on the same address changes nothing.
	if d.listener, err = listen(o, log); err != nil {
		return err
	}
	defer d.listener.Close()
	if d.ops, err = listenForOps(o); err != nil {
		return err
	}
	defer d.ops.Close()
	if err := d.clearReady(); err != nil {
		return err
	}
	if o.Dev {
		if d.options.DataDir, err = os.MkdirTemp("", "imagegend-dev-"); err != nil {
			return err
		}
		defer os.RemoveAll(d.options.DataDir)
	}
	// From here on the audit trail names the service itself, unless a request says who asks.
	ctx = account.WithActor(ctx, itself)
	if err := d.openData(ctx); err != nil {
		return err
	}
	// After the data: a second server on it has the same directory for backups, and its error must name the data.
	if err := d.backups.lockDir(ctx, d.options, log); err != nil {
		return d.unstarted(err)
	}
	defer d.backups.Close()
	if err := d.startServing(ctx); err != nil {
		return d.unstarted(err)
	}
	if err := d.writeReady(); err != nil {
		return errors.Join(err, d.drain())
	}
	defer d.clearReady()
	d.notify("READY=1")
	// The watchdog is served until Run returns, so also during a drain, which may take longer than its limit.
	alive, ended := context.WithCancel(context.Background())
	defer ended()
	go d.keepAlive(alive)
	return d.waitForEnd(ctx, hangUps)
}

// waitForEnd waits for what ends the service, or reloads it: a signal, a failed disk, or a server that ended by itself.
func (d *daemon) waitForEnd(ctx context.Context, hangUps <-chan os.Signal) error {
	for {
		select {
		case <-ctx.Done():
			return d.drain()
		case <-hangUps:
			if d.options.Dev { // the terminal was closed, so nobody else would end it
				return d.drain()
			}
			d.reload(ctx)
		case <-d.db.Failed():
			return d.abandon()
		case err := <-d.ended:
			return errors.Join(err, d.drain())
		}
	}
}

// unstarted closes the data of a service that could not start. A failed disk counts more than err, of which it may be
// the cause.
func (d *daemon) unstarted(err error) error {
	failed := d.db.Err()
	closed := d.db.Close()
	if failed == nil {
		return errors.Join(err, closed)
	}
	d.log.Error("the disk failed under a commit: the service does not start", "error", failed)
	return adminserver.ErrDisk
}

// openData reads the models and opens the data with an engine for them, which is not started yet. From then on there
// are metrics of its state.
func (d *daemon) openData(ctx context.Context) (err error) {
	if _, d.offered, err = d.loadModels(); err != nil {
		return err
	}
	// The Schedule is not there yet.
	warnings := func(ctx context.Context) []imagegen.Notice {
		return append(d.backups.Warnings(ctx), d.hooks.warnings()...)
	}
	if d.node, err = openNode(ctx, d.options.Settings, d.offered, warnings, d.log, d.observer()); err != nil {
		return err
	}
	if err := d.hooks.prepare(d.options.Settings, d.db, d.log); err != nil {
		return err
	}
	if err := private.CheckOwn(d.options.DataDir); err != nil {
		d.log.Warn("the data directory belongs to another user, who cannot use what this process writes there; run as that user", "data_dir", d.options.DataDir)
	}
	d.metrics.Watch(metrics.Sources{Engine: d.engine, Disk: func() (metrics.Disk, error) {
		s, err := d.db.Space()
		return metrics.Disk(s), err
	}, Backup: func() time.Time { return d.backups.State().Last.At }})
	d.models, err = d.engine.Models(ctx)
	return err
}

// loadModels reads the models of the file that counts now.
func (d *daemon) loadModels() (file string, models []engine.Model, err error) {
	if file, err = d.options.ModelsFile(); err != nil {
		return "", nil, err
	}
	models, err = catalog.Load(file, catalog.Options{AllowCrash: d.options.Dev, Log: d.log, Policy: d.options.Policy})
	return file, models, err
}

// startServing sets up the servers and begins to take work, in this order: first users and handlers, while nobody can
// call; then the admin socket, which shows commands that a server is here; then the engine; then the servers, since a
// request needs a started engine; then the announcement, which others wait for; last the backups, which may take long.
func (d *daemon) startServing(ctx context.Context) (err error) {
	welcome, err := d.welcome(ctx)
	if err != nil {
		return err
	}
	// The console, the socket and the operators' programs share one Local.
	local := &adminserver.Local{Engine: d.engine, DB: d.db, Console: d.consoleURL(), NoConsole: !d.options.Console,
		Money: console.Money(d.options.Money), Backing: d.backups.Schedule,
		Webhooks: d.hooks.Deliverer}
	handler, err := d.handler(ctx, local)
	if err != nil {
		return err
	}
	if d.socket, err = adminserver.Listen(d.options.DataDir); err != nil {
		return err
	}
	if err := d.engine.Start(); err != nil {
		return errors.Join(err, d.socket.Close())
	}
	troubles := newTroubles(d.log)
	d.http = httpapi.NewServer(httpapi.Watch(d.answers.watch(handler), d.watchers()...))
	d.http.ConnState = d.listener.state
	// net/http's own handler would answer OPTIONS * without Allow, which the API sends.
	d.http.DisableGeneralOptionsHandler = true
	d.http.ErrorLog = troubles
	watching := d.watching(local)
	d.admin = adminserver.NewServer(local)
	// On the socket monitoring and profiles are beside the calls; who can open it may do everything.
	d.admin.Handler = ahead(watching, ahead(profiles(), d.admin.Handler))
	d.admin.ErrorLog = troubles
	d.http.TLSConfig, d.http.Protocols = d.tls, onlyHTTP1()
	d.serveOn(d.http, d.listener)
	d.serveOn(d.admin, d.socket)
	if d.ops != nil {
		d.ops.server = newOpsServer(d.operating(local, watching), d.ops, troubles)
		d.ops.server.TLSConfig, d.ops.server.Protocols = d.opsTLS(), onlyHTTP1()
		d.serveOn(d.ops.server, d.ops)
	}
	d.noteAct(ctx, account.ActServeStart, account.TrailDone, fmt.Sprintf("version=%q models=%q", d.options.Version,
		d.modelLines()))
	d.announce(welcome)
	d.warnOfStranded(ctx)
	d.backups.startMaking(ctx, local)
	d.hooks.start()
	return nil
}

// itself is the actor of what the service does unasked.
var itself = account.Actor{Via: account.ViaService}

// noteAct adds a row to the audit trail. A failure is logged: it keeps the service neither from starting nor from
// stopping.
func (d *daemon) noteAct(ctx context.Context, act account.Act, outcome account.TrailOutcome, after string) {
	if err := d.db.Note(ctx, account.TrailRow{Act: act, After: after, Outcome: outcome}); err != nil {
		d.log.Warn("the audit trail could not be written", "act", act, "error", err)
	}
}

// serveOn runs a server in a goroutine, which ends with the server. Unless it was shut down, its error goes to d.ended,
// and run drains.
func (d *daemon) serveOn(s *http.Server, l net.Listener) {
	go func() {
		listen := s.Serve
		if s.TLSConfig != nil {
			listen = func(l net.Listener) error { return s.ServeTLS(l, "", "") }
		}
		if err := listen(l); !errors.Is(err, http.ErrServerClosed) {
			d.ended <- fmt.Errorf("the server on %s ended: %w", l.Addr(), err)
		}
	}()
}
