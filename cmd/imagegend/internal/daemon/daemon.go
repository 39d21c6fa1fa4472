// Package daemon runs the service: an engine over a data directory, served over HTTP and, for
// operators, on a socket; from the first line that it prints to the drain at its end.
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

	"github.com/imagegend/imagegend/cmd/imagegend/internal/admin"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/branding"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/catalog"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/metrics"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/tracing"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/otel"
)

// Options are what serve was told.
type Options struct {
	config.Settings
	// ModelsFile is asked for the file with models, or catalog.Fake, at the start and at each reload.
	ModelsFile func() (string, error)
	Warnings   []string // to be said at the start
	Version    string
	Human      bool      // somebody is looking: text rather than JSON, unless the settings say otherwise
	Output     io.Writer // what is said at the start, and the log
}

// daemon is a running service.
type daemon struct {
	options Options
	brand   console.Brand
	log     *slog.Logger
	began   time.Time
	*node
	offered  []engine.Model // as they were read
	models   []imagegen.ModelInfo
	listener *connections
	tls      *tls.Config // nil: the service speaks none
	answers  *answers
	http     *http.Server
	socket   net.Listener
	admin    *http.Server
	ops      *ops
	backups  *backing
	metrics  *metrics.Metrics
	history  *console.History // nil: there is no console
	tracer   *otel.Tracer     // nil: nobody wants traces
	ended    chan error       // a server that ended of itself
}

// Run serves until ctx ends, then drains; a second signal ends it at once. admin.ErrDisk: the disk
// failed under a commit, the process must exit and not go on.
func Run(ctx context.Context, o Options) (err error) {
	tuneMemory()
	// Who reads the log may go away: that fails a write, and does not end the service, nor hide the
	// status with which it ends.
	signal.Ignore(syscall.SIGPIPE)
	log := newLog(o)
	hangUps, stop := o.hangUps()
	defer stop()
	d := &daemon{options: o, began: time.Now(), log: log, answers: newAnswers(), metrics: metrics.New(o.Version), ended: make(chan error, 3)}
	if o.Console {
		d.history = console.NewHistory(time.Now)
	}
	var sendTraces func()
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
	if d.listener, err = listen(o, log); err != nil {
		return err
	}
	defer d.listener.Close()
	if d.ops, err = listenForOps(o); err != nil {
		return err
	}
	defer d.ops.Close()
	if err := d.checkOps(); err != nil {
		return err
	}
	if o.Dev {
		if d.options.DataDir, err = os.MkdirTemp("", "imagegend-dev-"); err != nil {
			return err
		}
		defer os.RemoveAll(d.options.DataDir)
	}
	if d.backups, err = openBackups(ctx, d.options, log); err != nil {
		return err
	}
	defer d.backups.Close()
	ctx = account.WithActor(ctx, itself)
	if err := d.open(ctx); err != nil {
		return err
	}
	if err := d.start(ctx); err != nil {
		return d.unstarted(err)
	}
	d.notify("READY=1")
	alive, ended := context.WithCancel(context.Background())
	defer ended()
	go d.keepAlive(alive)
	return d.run(ctx, hangUps)
}

// run serves until something ends the service.
func (d *daemon) run(ctx context.Context, hangUps <-chan os.Signal) error {
	for {
		select {
		case <-ctx.Done():
			return d.drain()
		case <-hangUps:
			if d.options.Dev { // its terminal was closed, and nobody would end it
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

// unstarted ends a service that could not start.
func (d *daemon) unstarted(err error) error {
	failed := d.db.Err()
	closed := d.db.Close()
	if failed == nil {
		return errors.Join(err, closed)
	}
	d.log.Error("the disk failed under a commit: the service does not start", "error", failed)
	return admin.ErrDisk
}

func (d *daemon) open(ctx context.Context) (err error) {
	if _, d.offered, err = d.loadModels(); err != nil {
		return err
	}
	if d.node, err = openNode(ctx, d.options.Settings, d.offered, d.backups.Warnings, d.log, d.observer()); err != nil {
		return err
	}
	d.metrics.Watch(metrics.Sources{Engine: d.engine, Space: d.db.Space, Backup: func() time.Time { return d.backups.State().Last.At }})
	d.models, err = d.engine.Models(ctx)
	return err
}

func (d *daemon) loadModels() (file string, models []engine.Model, err error) {
	if file, err = d.options.ModelsFile(); err != nil {
		return "", nil, err
	}
	models, err = catalog.Load(file, catalog.Options{AllowCrash: d.options.Dev, Log: d.log})
	return file, models, err
}

// start begins to take work, and only then says that it is ready.
func (d *daemon) start(ctx context.Context) (err error) {
	welcome, err := d.welcome(ctx)
	if err != nil {
		return err
	}
	handler, err := d.handler(ctx)
	if err != nil {
		return err
	}
	if d.socket, err = admin.Listen(d.options.DataDir); err != nil {
		return err
	}
	if err := d.engine.Start(ctx); err != nil {
		return errors.Join(err, d.socket.Close())
	}
	troubles := newTroubles(d.log)
	d.http = httpapi.NewServer(httpapi.Watch(d.answers.watch(handler), d.watchers()...))
	d.http.ConnState = d.listener.state
	d.http.DisableGeneralOptionsHandler = true // it answers OPTIONS * without Allow, the API with it
	d.http.ErrorLog = troubles
	local := &admin.Local{Engine: d.engine, DB: d.db, Console: d.consoleURL(), NoConsole: !d.options.Console, Backing: d.backups.Schedule}
	watching := d.watching(local)
	d.admin = admin.NewServer(local)
	d.admin.Handler = ahead(watching, ahead(profiles(), d.admin.Handler))
	d.admin.ErrorLog = troubles
	d.http.TLSConfig, d.http.Protocols = d.tls, onlyHTTP1()
	d.serve(d.http, d.listener)
	d.serve(d.admin, d.socket)
	if d.ops != nil {
		d.ops.server = newOpsServer(d.operating(local, watching), d.ops, troubles)
		d.ops.server.TLSConfig, d.ops.server.Protocols = d.opsTLS(), onlyHTTP1()
		d.serve(d.ops.server, d.ops)
	}
	d.noteStart(ctx)
	d.announce(welcome)
	d.backups.start(ctx, local)
	return nil
}

// itself acts where nobody asked the service to.
var itself = account.Actor{Via: account.ViaService}

// noteStart and noteStop tell the audit trail when the service ran, and with what. That they cannot be
// written is no reason not to serve, nor to go on.
func (d *daemon) noteStart(ctx context.Context) {
	d.note(ctx, account.ActServeStart, account.TrailDone, fmt.Sprintf("version=%q models=%q", d.options.Version, d.modelLines()))
}

func (d *daemon) noteStop() {
	d.note(account.WithActor(context.Background(), itself), account.ActServeStop, account.TrailDone, "")
}

func (d *daemon) note(ctx context.Context, act account.Act, outcome account.TrailOutcome, after string) {
	if err := d.db.Note(ctx, account.TrailRow{Act: act, After: after, Outcome: outcome}); err != nil {
		d.log.Warn("the audit trail could not be written", "act", act, "error", err)
	}
}

func (d *daemon) serve(s *http.Server, l net.Listener) {
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
