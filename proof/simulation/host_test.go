package simulation_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
)

// host runs one process of the service after the other.
type host struct {
	w    *world
	name string

	mu   sync.Mutex
	runs *process // nil: none
}

// process is an engine, with a server where the world has HTTP.
type process struct {
	h      *host
	link   *link
	kill   context.CancelCauseFunc
	engine *engine.Engine
	server *http.Server
	lines  *pipes
}

var errDown = errors.New("simulation: nothing listens")

const model = "m"

// boot starts a process over the storage that all have in common.
func (h *host) boot() *process {
	w := h.w
	cut, kill := context.WithCancelCause(context.Background())
	l := &link{w: w, dice: newDice(w.seed, h.name+w.now().String()), cut: cut}
	store := farStore{w.db, l}
	ledger := farLedger{w.books, l}
	cfg := engine.Config{Store: store, Ledger: ledger, Images: farShelf{w.shelf, l}, Spool: farShelf{w.shelf, l},
		Policy: engine.QualityFirst, Limits: engine.Limits{Concurrency: w.plan.concurrency, MaxQueued: w.plan.maxQueued,
			SlotWait: 15 * time.Second},
		LedgerCalls: engine.LedgerCalls{Tries: 2}, // few, so that many fail for good
		Models:      []engine.Model{{ID: model, Provider: scripted{w.upstream.provide}, Credits: prices}}}
	if w.plan.joint {
		cfg.Store = jointStore{store, w.db, ledger}
	}
	service, err := engine.New(cfg)
	if err == nil {
		err = service.Start()
	}
	if err != nil {
		panic(err) // the configuration is this file's own
	}
	p := &process{h: h, link: l, kill: kill, engine: service}
	if w.plan.overHTTP {
		p.serve()
	}
	h.set(p)
	return p
}

func (h *host) set(p *process) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs = p
}

func (h *host) running() *process {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.runs
}

func (p *process) serve() {
	p.lines = &pipes{incoming: make(chan net.Conn), closed: make(chan struct{})}
	p.server = httpapi.NewServer(httpapi.NewHandler(p.engine, httpapi.Options{}))
	p.server.ErrorLog = log.New(io.Discard, "", 0)
	p.h.w.late.Go(func() { p.server.Serve(p.lines) })
}

// run starts processes and ends them, well or badly, until ctx ends.
func (h *host) run(ctx context.Context) {
	d := newDice(h.w.seed, h.name)
	for ctx.Err() == nil {
		p := h.boot()
		sleep(ctx, d.between(time.Minute, time.Hour))
		if d.chance(0.5) {
			p.crash()
		} else {
			p.drain(d.between(time.Second, time.Minute))
		}
		sleep(ctx, d.between(0, time.Minute))
	}
}

func sleep(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-ctx.Done()
}

// drain ends a process as the daemon does on SIGTERM.
func (p *process) drain(patience time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := p.engine.Stop(ctx)
	if p.server != nil && err == nil {
		answering, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		err = p.server.Shutdown(answering)
	}
	if err != nil { // what still runs dies with the process
		p.crash()
		return
	}
	p.h.set(nil)
	p.kill(errEnded)
	p.h.w.met.Add("drains", 1)
}

// crash ends a process at once: nothing that it does from here on reaches anybody. The goroutines
// that a real one would take along are left to find out.
func (p *process) crash() {
	p.h.set(nil)
	p.kill(errDied)
	if p.server != nil {
		p.server.Close()
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	p.h.w.late.Go(func() { p.engine.Stop(ended) })
	p.h.w.met.Add("crashes", 1)
}

// reach lets a client use the service of one of the hosts. What a process says that dies meanwhile
// is not heard.
func (w *world) reach(ctx context.Context, h *host, u imagegen.UserID,
	use func(context.Context, imagegen.Service) error) error {
	if w.plan.overHTTP {
		by := &http.Client{Transport: w.class.named(u, w.transport)}
		c, err := client.New("http://"+h.name, w.keys[u], &client.Options{HTTP: by})
		if err != nil {
			return err
		}
		return use(ctx, c)
	}
	p := h.running()
	if p == nil {
		return errDown
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.link.cut, cancel)()
	s, err := w.class.session(ctx, p.engine, u)
	if err == nil {
		err = use(ctx, s)
	}
	if p.link.cut.Err() != nil {
		return errDown
	}
	return err
}

// dial connects to a host by its name.
func (w *world) dial(ctx context.Context, _, address string) (net.Conn, error) {
	for _, h := range w.hosts {
		p := h.running()
		if !strings.HasPrefix(address, h.name+":") || p == nil {
			continue
		}
		near, far := net.Pipe()
		select {
		case p.lines.incoming <- far:
			return near, nil
		case <-p.lines.closed:
		case <-ctx.Done():
		}
	}
	return nil, errDown
}

// pipes is a listener whose connections stay in the process, so that virtual time governs them.
type pipes struct {
	incoming chan net.Conn
	once     sync.Once
	closed   chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.incoming:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }
