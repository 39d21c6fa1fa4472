package hostile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// tool is a call of one of the tools for agents.
func tool(name, arguments string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments +
		`}}`
}

// posted is a request with a JSON body.
func posted(key, path, body string) daemontest.Request {
	r := daemontest.Request{Method: http.MethodPost, Path: path, Key: key, Body: strings.NewReader(body)}
	return r.With("Accept", "application/json, text/event-stream")
}

// A request is one call, at every address that takes a body: several in one body are refused whole, since the limits of
// a key count requests.
func TestSeveralCallsInARequest(t *testing.T) {
	h := open(t)
	edit := `{"prompt":"a fox","images":[{"image_url":"data:image/png;base64,iVBORw0KGgo="}]}`
	bodies := map[string]string{
		"/api/v1/images/generations": foxJSON, "/api/v1/images/quote": foxJSON, "/v1/images/generations": foxJSON,
		"/v1/images/edits": edit, "/mcp": tool("generate_image", `{"prompt":"a fox","size":"48x32"}`),
	}
	var document struct {
		Paths map[string]map[string]struct {
			RequestBody *struct{} `json:"requestBody"`
		}
	}
	h.Call(daemontest.Request{Path: "/openapi.json"}).Into(t, &document)
	for path, methods := range document.Paths {
		for _, m := range methods {
			if m.RequestBody != nil && bodies[path] == "" {
				t.Errorf("%s takes a body, and is not tried here", path)
			}
		}
	}
	for path, one := range bodies {
		for name, body := range map[string]string{
			"a list": "[" + strings.Repeat(one+",", 9) + one + "]", "a list after space": " \r\n\t[" + one + "]",
			"one after the other": one + one, "lines": strings.Repeat(one+"\n", 10),
		} {
			t.Run(path+" "+name, func(t *testing.T) {
				if a := h.Call(posted(h.key, path, body)); a.Status != http.StatusBadRequest {
					t.Errorf("%d %s", a.Status, a.Body)
				}
				h.in(t).exact()
			})
		}
	}
	h.unharmed()
}

const (
	crowdTime   = 4 * time.Second  // PROOF_TIMES=15 makes a minute of it
	crowdMemory = 300 << 20        // resident
	crowdDelay  = 10 * time.Second // of somebody else; on a machine that does nothing else it is far below one
)

// Eight users, each with several connections, list a hundred of the longest prompts, wait, and
// nest, in every interface. The daemon stays within its memory, and others are answered.
func TestCrowdsOfCalls(t *testing.T) {
	const attackers, connections = 8, 8
	d := daemontest.Start(t, daemontest.Options{})
	_, other := d.NewUser(1)
	var requests, waits []func() daemontest.Request
	var prepared sync.WaitGroup
	for range attackers {
		_, key := d.NewUser(100)
		prepared.Go(func() { longList(d, key) })
		var running daemontest.Generation
		d.Call(daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "[fake:hang]", "async": true})).
			Into(t, &running)
		for _, r := range []daemontest.Request{
			{Path: "/api/v1/generations?limit=100", Key: key},
			{Path: "/api/v1/usage?group_by=day,model,key", Key: key},
		} {
			requests = append(requests, func() daemontest.Request { return r })
		}
		waits = append(waits, func() daemontest.Request {
			return daemontest.Request{Path: "/api/v1/generations/" + running.ID, Key: key}.With("Prefer", "wait=60")
		}, func() daemontest.Request {
			return posted(key, "/mcp", tool("get_generation", `{"id":"`+running.ID+`"}`))
		})
		list := tool("list_generations", `{"limit":100}`)
		for path, body := range map[string]string{
			"/mcp":  list,
			"/mcp ": "[" + strings.Repeat(list+",", 4000) + list + "]",
			"/mcp  ": tool("list_generations", strings.Repeat("[", 1<<19)+
				strings.Repeat("]", 1<<19-1000)),
			"/mcp   ":                    tool("list_generations", `{"a":[`+strings.Repeat("[],", 1<<18)+`[]]}`),
			"/api/v1/images/generations": `{"size":` + strings.Repeat("[", 1<<20-100),
		} {
			requests = append(requests, func() daemontest.Request { return posted(key, strings.TrimSpace(path), body) })
		}
	}
	prepared.Wait()

	ctx, cancel := context.WithTimeout(t.Context(), crowdTime*times())
	defer cancel()
	var crowd sync.WaitGroup
	var answers atomic.Int64
	for i := range attackers * connections {
		crowd.Go(func() {
			sends := requests
			if i%4 == 0 { // a connection that waits does nothing else for a minute
				sends = waits
			}
			for n := i; ctx.Err() == nil; n += 7 {
				if _, err := d.Do(ctx, sends[n%len(sends)]()); err == nil {
					answers.Add(1)
				}
			}
		})
	}
	asked, slowest := 0, time.Duration(0)
	for ; ctx.Err() == nil; asked++ {
		began := time.Now()
		if a := d.Call(daemontest.Request{Path: "/api/v1/credits", Key: other}); a.Status != http.StatusOK {
			t.Errorf("somebody else got %d %s", a.Status, a.Body)
		}
		slowest = max(slowest, time.Since(began))
		time.Sleep(20 * time.Millisecond)
	}
	crowd.Wait()
	d.HangUp()
	t.Logf("proof hostile: attackers=%d connections=%d seconds=%.0f answers=%d asked_meanwhile=%d slowest=%v resident_megabytes=%d",
		attackers, attackers*connections, (crowdTime * times()).Seconds(), answers.Load(), asked,
		slowest.Round(time.Millisecond), d.RSS()>>20)
	if slowest > crowdDelay {
		t.Errorf("somebody else waited %v", slowest)
	}
	if d.RSS() > crowdMemory {
		t.Errorf("the daemon took %d MiB of memory", d.RSS()>>20)
	}
}

// longList makes a hundred generations that failed, of the longest prompts.
func longList(d *daemontest.Daemon, key string) {
	prompt, _ := json.Marshal("[fake:fail]" + strings.Repeat("狐", 31_900)) // a string always encodes
	body := fmt.Sprintf(`{"model":"fake-1","prompt":%s,"size":"48x32"}`, prompt)
	for range 100 {
		d.Call(posted(key, generationsPath, body))
	}
}
