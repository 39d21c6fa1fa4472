package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	_ "image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/catalog"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	openaishape "github.com/imagegend/imagegend/imagegen/httpapi/openai"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// site is a service with an account of 10 credits.
type site struct {
	*testing.T
	is       *is.I
	url, key string
	path     string // of the interface, behind the url
	restart  func() // cuts short what is under way
}

// onEachStorage runs a test against the daemon, and against an engine in this process on a directory and in memory.
func onEachStorage(t *testing.T, test func(s *site)) {
	for name, start := range map[string]func(s *site){
		"daemon":                 (*site).startDaemon,
		"embedded, on directory": (*site).startOnDirectory,
		"embedded, in memory":    (*site).startInMemory,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &site{T: t, is: is.New(t)}
			start(s)
			test(s)
		})
	}
}

func (s *site) startDaemon() {
	o := daemontest.Options{DataDir: s.TempDir(), Args: []string{"--drain-timeout", "0s"}}
	d := daemontest.Start(s, o)
	_, s.key = d.NewUser(10)
	s.url = d.URL
	s.restart = func() {
		s.is.Equal(d.Terminate(time.Minute), 0)
		s.url = daemontest.Start(s, o).URL
	}
}

// books are a storage, whose ledger is in it.
type books interface {
	imagegen.Store
	imagegen.CreditAdmin
}

func (s *site) startOnDirectory() {
	dir := s.TempDir()
	s.embed(func() (books, func()) {
		db, err := storage.Open(dir, nil)
		s.is.NoErr(err)
		return db, func() { s.is.NoErr(db.Close()) }
	})
}

func (s *site) startInMemory() {
	db := memory.New(nil)
	s.embed(func() (books, func()) { return db, func() {} })
}

// embed serves an engine in this process.
func (s *site) embed(open func() (b books, closed func())) {
	var service *engine.Engine
	var b books
	var end func()
	start := func() {
		db, closed := open()
		var err error
		service, err = engine.New(engine.Config{Store: db, Ledger: db, Models: catalog.Default(catalog.Options{})})
		s.is.NoErr(err)
		s.is.NoErr(service.Start())
		routes := http.NewServeMux()
		routes.Handle("/", httpapi.NewHandler(service, httpapi.Options{}))
		routes.Handle(openaishape.Prefix, openaishape.NewHandler(service.Authenticate, openaishape.Options{}))
		server := httptest.NewServer(routes)
		s.url, b = server.URL, db
		end = func() {
			now, cancel := context.WithCancel(context.Background())
			cancel()
			service.Stop(now) // its error says that work was cut short
			server.Close()
			closed()
		}
	}
	start()
	s.Cleanup(func() { end() })
	s.restart = func() { end(); start() }
	u, err := service.Accounts().CreateUser(s.Context(), "carol", "")
	s.is.NoErr(err)
	_, err = b.Grant(s.Context(), imagegen.Grant{User: u.ID, Credits: 10})
	s.is.NoErr(err)
	key, _, err := service.Accounts().MintKey(s.Context(), u.ID, "k", time.Time{})
	s.is.NoErr(err)
	s.key = key.Reveal()
}

// brings checks that an answer has an image, or names one that is there.
func (s *site) brings(raw []byte) {
	s.Helper()
	var a struct {
		Images []struct{ URL string } // of the native interface
		Data   []struct {
			B64 []byte `json:"b64_json"`
		} // of OpenAI's shape
	}
	s.is.NoErr(json.Unmarshal(raw, &a))
	s.is.Equal(len(a.Images)+len(a.Data), 1)
	if len(a.Data) == 1 {
		s.decodes(a.Data[0].B64)
		return
	}
	r, err := http.Get(a.Images[0].URL)
	s.is.NoErr(err)
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	s.is.NoErr(err)
	s.decodes(b)
}

// decodes checks that an image is whole and has the size that was asked for.
func (s *site) decodes(b []byte) {
	s.Helper()
	m, _, err := image.Decode(bytes.NewReader(b))
	s.is.NoErr(err)
	s.is.Equal(m.Bounds(), image.Rect(0, 0, 64, 48))
}

// spent checks what the account has used, and how its generations ended, the latest first.
func (s *site) spent(credits int, statuses ...string) {
	s.Helper()
	var balance struct{ Balance struct{ Credits int } }
	s.read("/api/v1/credits", &balance)
	s.is.Equal(10-balance.Balance.Credits, credits)
	s.is.Equal(s.statuses(), statuses)
}

func (s *site) statuses() (all []string) {
	s.Helper()
	var list struct{ Data []struct{ Status string } }
	s.read("/api/v1/generations", &list)
	for _, g := range list.Data {
		all = append(all, g.Status)
	}
	return all
}

// awaits waits until the only generation has ended like this.
func (s *site) awaits(status string) {
	s.Helper()
	for limit := time.Now().Add(time.Minute); !slices.Equal(s.statuses(),
		[]string{status}); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			s.Fatalf("not %s within a minute", status)
		}
	}
}

func (s *site) read(path string, v any) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.url+path, nil)
	s.is.NoErr(err)
	r.Header.Set("Authorization", "Bearer "+s.key)
	got, err := http.DefaultClient.Do(r)
	s.is.NoErr(err)
	defer got.Body.Close()
	s.is.NoErr(json.NewDecoder(got.Body).Decode(v))
}
