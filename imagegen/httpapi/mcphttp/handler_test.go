package mcphttp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/httpapi/mcphttp"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/mcpserver"
)

// site is a service on the network, with a key of Alice's.
type site struct {
	*testing.T
	is *is.I
	imagegentest.Running
	url, key string
}

func serve(t *testing.T, o mcphttp.Options) *site {
	t.Helper()
	s := &site{T: t, is: is.New(t), Running: imagegentest.Start(t)}
	s.key = s.Key(t, imagegentest.Alice)
	mux := http.NewServeMux()
	mux.Handle(mcphttp.Path, mcphttp.NewHandler(s.Engine, o))
	mux.Handle("/", httpapi.NewHandler(s.Engine, httpapi.Options{}))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// keyed sends a key with each request.
type keyed struct{ key string }

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+k.key)
	return http.DefaultTransport.RoundTrip(r)
}

// connect connects a client, which hears of progress.
func (s *site) connect(progress func(*mcp.ProgressNotificationParams)) *mcp.ClientSession {
	s.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			progress(r.Params)
		},
	})
	session, err := client.Connect(s.Context(), &mcp.StreamableClientTransport{Endpoint: s.url + mcphttp.Path,
		HTTPClient: &http.Client{Transport: keyed{s.key}}}, nil)
	s.is.NoErr(err)
	s.Cleanup(func() { session.Close() })
	return session
}

// A client makes an image, hears how it goes, and can read it at the address that it gets.
func TestClient(t *testing.T) {
	s := serve(t, mcphttp.Options{Tools: mcpserver.Options{Version: "v1.2.3", MaxWait: time.Minute}})
	progress := make(chan *mcp.ProgressNotificationParams, 100)
	session := s.connect(func(p *mcp.ProgressNotificationParams) { progress <- p })
	s.is.Equal(session.InitializeResult().ServerInfo.Version, "v1.2.3")
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "generate_image",
		Meta: mcp.Meta{"progressToken": "p"}, Arguments: map[string]any{"prompt": "[fake:delay=1s] a fox",
			"size": "48x32"}})
	s.is.NoErr(err)
	s.is.True(!r.IsError)
	s.is.Equal((<-progress).ProgressToken, "p")
	link := r.Content[1].(*mcp.ResourceLink)
	s.is.True(strings.HasPrefix(link.URI, s.url+"/images/image_"))
	image, err := http.Get(link.URI)
	s.is.NoErr(err)
	image.Body.Close()
	s.is.Equal(image.StatusCode, http.StatusOK)
	b, err := s.As(imagegentest.Alice).Balance(t.Context())
	s.is.NoErr(err)
	s.is.Equal(b.Credits, imagegen.Credits(99))
}

// send sends a request with headers, names and values in turn, and returns status and body.
func (s *site) send(method, body string, header ...string) (*http.Response, string) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+mcphttp.Path, strings.NewReader(body))
	s.is.NoErr(err)
	r.Header = http.Header{"Authorization": {"Bearer " + s.key}, "Content-Type": {"application/json"},
		"Accept": {"application/json, text/event-stream"}}
	for pair := range slices.Chunk(header, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	r.Host = r.Header.Get("Host") // "": that of the address
	a, err := http.DefaultTransport.RoundTrip(r)
	s.is.NoErr(err)
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	s.is.NoErr(err)
	return a, string(b)
}

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`

// Each request stands for itself, needs a key, and is bounded.
func TestRequests(t *testing.T) {
	s := serve(t, mcphttp.Options{CORSOrigins: []string{"https://app.example.com"}})
	a, body := s.send("POST", listTools, "Origin", "https://app.example.com")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(strings.Contains(body, "generate_image"))
	s.is.Equal(a.Header.Get("Mcp-Session-Id"), "")
	s.is.Equal(a.Header.Get("X-Accel-Buffering"), "no") // or nginx holds the stream back until its end
	s.is.True(a.Header.Get("X-Request-Id") != "" && strings.HasPrefix(a.Header.Get("Cache-Control"), "no-"))
	for _, here := range []string{"http://localhost:6274", "http://127.0.0.1:8080", "http://[::1]"} {
		a, _ = s.send("POST", listTools, "Origin", here)
		s.is.Equal(a.StatusCode, http.StatusOK)
	}
	a, _ = s.send("POST", listTools, "Host", "images.example.com") // as a proxy on this machine hands it on
	s.is.Equal(a.StatusCode, http.StatusOK)

	for accept, want := range map[string]string{"": "text/event-stream", "text/event-stream": "text/event-stream",
		"*/*": "text/event-stream", "application/json": "application/json"} {
		a, body := s.send("POST", listTools, "Accept", accept)
		s.is.Equal(a.StatusCode, http.StatusOK)
		s.is.Equal(a.Header.Get("Content-Type"), want)
		s.is.True(strings.Contains(body, "generate_image"))
	}

	for _, c := range []struct {
		method, body string
		header       []string
		status       int
		code         any
	}{
		{"POST", listTools, []string{"Authorization", ""}, http.StatusUnauthorized, "missingApiKey"},
		{"POST", listTools, []string{"Authorization", "Bearer nonsense"}, http.StatusUnauthorized, "invalidApiKey"},
		{"POST", listTools, []string{"Origin", "http://evil.example", "Host", "evil.example"}, http.StatusForbidden,
			"originNotAllowed"},
		{"GET", "", nil, http.StatusMethodNotAllowed, "methodNotAllowed"},
		{"DELETE", "", nil, http.StatusMethodNotAllowed, "methodNotAllowed"},
		{"POST", strings.Repeat(" ", 1<<20+1), nil, http.StatusBadRequest, "invalid_request"},
		{"POST", "nonsense", nil, http.StatusBadRequest, -32600.}, // of JSON-RPC, as all that is wrong within a body
		{"POST", "", nil, http.StatusBadRequest, -32600.},
		{"POST", listTools, []string{"Content-Type", "text/plain"}, http.StatusUnsupportedMediaType, "invalid_request"},
		{"POST", listTools, []string{"Content-Encoding", "gzip"}, http.StatusUnsupportedMediaType,
			"unsupportedEncoding"},
	} {
		a, body := s.send(c.method, c.body, c.header...)
		s.is.Equal(a.StatusCode, c.status)
		var failed struct {
			Error struct {
				Message string
				Code    any
			}
		}
		s.is.NoErr(json.Unmarshal([]byte(body), &failed))
		s.is.Equal(failed.Error.Code, c.code)
		s.is.True(failed.Error.Message != "")
		s.is.Equal(a.Header.Get("Content-Type"), "application/json")
		s.is.Equal(a.Header.Get("WWW-Authenticate") != "", c.status == http.StatusUnauthorized)
	}
	a, _ = s.send("OPTIONS", "")
	s.is.Equal(a.StatusCode, http.StatusNoContent)
}

// Clients in browsers may send what the newest protocol demands.
func TestHeadersOfBrowsers(t *testing.T) {
	s := serve(t, mcphttp.Options{CORSOrigins: []string{"https://app.example.com"}})
	const asked = "authorization,mcp-method,mcp-name,mcp-protocol-version"
	a, _ := s.send("OPTIONS", "", "Origin", "https://app.example.com", "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", asked)
	s.is.Equal(a.Header.Get("Access-Control-Allow-Headers"), asked)
}

// A revoked key and somebody else's generation are what they are elsewhere.
func TestOwnership(t *testing.T) {
	s := serve(t, mcphttp.Options{})
	g, err := s.As(imagegentest.Bob).Generate(t.Context(), imagegen.GenerateRequest{Model: imagegentest.Model,
		Prompt: "a fox"})
	s.is.NoErr(err)
	session := s.connect(func(*mcp.ProgressNotificationParams) {})
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_generation",
		Arguments: map[string]any{"id": g.ID}})
	s.is.NoErr(err)
	s.is.True(r.IsError && strings.Contains(r.Content[0].(*mcp.TextContent).Text, "notFound"))

	keys, err := s.Accounts().Keys(t.Context(), imagegentest.Alice)
	s.is.NoErr(err)
	_, err = s.Accounts().RevokeKey(t.Context(), keys[0].ID)
	s.is.NoErr(err)
	_, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "list_models"})
	s.is.True(err != nil)
}

// A key that has too much under way is refused, as everywhere.
func TestBusyKey(t *testing.T) {
	limits := httpapi.NewLimits(1)
	s := serve(t, mcphttp.Options{Limits: limits})
	keys, err := s.Accounts().Keys(t.Context(), imagegentest.Alice)
	s.is.NoErr(err)
	leave, err := limits.Admit(keys[0].ID)
	s.is.NoErr(err)
	a, _ := s.send("POST", listTools)
	s.is.Equal(a.StatusCode, http.StatusServiceUnavailable)
	s.is.True(a.Header.Get("Retry-After") != "")
	leave()
	a, _ = s.send("POST", listTools)
	s.is.Equal(a.StatusCode, http.StatusOK)
}

// A request is one call, which can be understood in one way.
func TestOneCall(t *testing.T) {
	s := serve(t, mcphttp.Options{})
	made := func(arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"generate_image","arguments":` +
			arguments + `}}`
	}
	fox := made(`{"prompt":"a fox","size":"48x32"}`)
	for name, body := range map[string]string{
		"a batch":              "[" + fox + "," + fox + "]",
		"a batch of one":       "[" + fox + "]",
		"a batch after space":  " \t\r\n[" + fox + "]",
		"two calls":            fox + "\n" + fox,
		"a name twice":         made(`{"prompt":"a fox","n":1,"n":4}`),
		"a name twice, hidden": made(`{"prompt":"a fox","n":1,"\u006e":4}`),
		"a method twice":       `{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":{"name":"generate_image","arguments":{"prompt":"a fox"}}}`,
		"a deep argument":      made(strings.Repeat(`{"prompt":`, 50_000)),
		"very many arguments":  made(`{"references":[` + strings.Repeat(`"",`, 200_000) + `""]}`),
		"no UTF-8":             made("{\"prompt\":\"\xff\"}"),
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			a, body := s.send("POST", body)
			is.Equal(a.StatusCode, http.StatusBadRequest)
			var refusal struct {
				JSONRPC string
				ID      *string
				Error   struct {
					Code    int
					Message string
				}
			}
			is.NoErr(json.Unmarshal([]byte(body), &refusal))
			is.Equal(refusal.JSONRPC, "2.0")
			is.Equal(refusal.ID, nil)
			is.Equal(refusal.Error.Code, -32600)
			is.True(refusal.Error.Message != "")
		})
	}
	b, err := s.As(imagegentest.Alice).Balance(t.Context())
	s.is.NoErr(err)
	s.is.Equal(b.Credits, imagegen.Credits(100))
	a, _ := s.send("POST", fox)
	s.is.Equal(a.StatusCode, http.StatusOK)
}

// With a key on behalf of people, a header names who asks: what they make is theirs, and the owner of the key pays.
func TestPersonBehindAKey(t *testing.T) {
	s := serve(t, mcphttp.Options{})
	ctx := t.Context()
	school, err := s.Accounts().CreateUser(ctx, "school", "")
	s.is.NoErr(err)
	s.Grant(t, school.ID, 20)
	raw, _, err := s.Accounts().MintMembersKey(ctx, school.ID, "mcp", time.Time{}, 30, imagegen.KeyLimits{Credits: 1})
	s.is.NoErr(err)
	s.key = raw.Reveal()
	call := func(person string) string {
		t.Helper()
		var header []string
		if person != "" {
			header = []string{"X-OpenWebUI-User-Id", person}
		}
		a, body := s.send("POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"generate_image",`+
			`"arguments":{"prompt":"a fox","size":"48x32"}}}`, header...)
		s.is.Equal(a.StatusCode, http.StatusOK)
		return body
	}
	s.is.True(strings.Contains(call(""), "X-OpenWebUI-User-Id")) // nobody is named
	s.is.True(strings.Contains(call("zoe"), "resource_link"))
	s.is.True(strings.Contains(call("zoe"), "your account is limited to 1 credits in all"))
	s.is.True(strings.Contains(call("ann"), "resource_link"))
	b, err := s.As(school.ID).Balance(ctx)
	s.is.NoErr(err)
	s.is.Equal(b.Credits, imagegen.Credits(18))
	for _, name := range []string{"school/zoe", "school/ann"} {
		u, err := s.Accounts().UserByName(ctx, name)
		s.is.NoErr(err)
		page, err := s.As(u.ID).Generations(ctx, imagegen.Query{})
		s.is.NoErr(err)
		s.is.Equal(len(page.Generations), 1)
	}
}
