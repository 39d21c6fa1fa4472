package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// longPrompts makes n generations of Alice's with the longest prompts there are.
func (l *line) longPrompts(n int) {
	l.Helper()
	prompt := "[fake:fail]" + strings.Repeat("\x01", 32_000-len("[fake:fail]"))
	for range n {
		_, err := l.As(imagegentest.Alice).Generate(l.Context(), imagegen.GenerateRequest{Model: imagegentest.Model,
			Prompt: prompt})
		l.is.True(err != nil)
	}
}

const page = "/api/v1/generations?limit=100"

func (l *line) list(path string) {
	l.Helper()
	l.say("GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", path, l.key)
}

// A page of the longest prompts comes whole, and who does not read it holds little memory.
func TestLongPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const generations, readers, most = 60, 20, 1 << 20
		l := connect(t, func(c *engine.Config) {
			c.Limits.MaxRefusals, c.Images, c.Spool = -1, c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool)
			c.Store = copiedList{c.Store}
		})
		l.longPrompts(generations)
		l.list(page)
		status, body := l.hear()
		l.is.Equal(status, http.StatusOK)
		l.is.True(len(body) > generations*32_000*6) // each character is escaped
		var whole struct {
			Data    []struct{ ID, Prompt string }
			HasMore bool    `json:"has_more"`
			Next    *string `json:"next_cursor"`
		}
		l.is.NoErr(json.Unmarshal([]byte(body), &whole))
		l.is.Equal(len(whole.Data), generations)
		l.is.True(!whole.HasMore && whole.Next == nil)
		for i, g := range whole.Data {
			l.is.True(i == 0 || g.ID < whole.Data[i-1].ID)
			l.is.Equal(len(g.Prompt), 32_000)
		}
		body, whole.Data = "", nil

		before := heap()
		for range readers {
			l.another().list(page)
		}
		synctest.Wait()
		each := (heap() - before) / readers
		t.Logf("%d KiB each", each>>10)
		l.is.True(each < most)
	})
}

// copiedList lists records that share no memory with what is stored, as of a storage on disk.
type copiedList struct{ imagegen.Store }

func (c copiedList) Generations(ctx context.Context, u imagegen.UserID,
	q imagegen.Query) ([]imagegen.Record, bool, error) {
	records, more, err := c.Store.Generations(ctx, u, q)
	for i := range records {
		records[i].Prompt = strings.Clone(records[i].Prompt)
	}
	return records, more, err
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A page that breaks off ends so that its reader notices.
func TestPageThatBreaksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken faultyList
		l := connect(t, func(c *engine.Config) {
			broken.Store = c.Store
			c.Store = &broken
			c.Images, c.Spool = broken.Store.(imagegen.ImageStore), broken.Store.(imagegen.Spool)
		})
		l.longPrompts(20)
		broken.after = 2
		l.list(page)
		a, err := http.ReadResponse(l.r, nil)
		l.is.NoErr(err)
		l.is.Equal(a.StatusCode, http.StatusOK)
		_, err = io.ReadAll(a.Body)
		l.is.True(err != nil)
	})
}

// Bodies that do not end hold a share of the memory, with however many keys of one user they come; others
// are served meanwhile.
func TestBodiesInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := connect(t)
		other := l.another()
		other.key = l.Key(t, imagegentest.Bob)
		const clients, size = 60, 1 << 20
		refused := 0
		text := `{"model":"` + strings.Repeat("a", size-100)
		for n := range clients {
			more, contentType, body := l.another(), "application/json", text
			more.key = l.Key(t, imagegentest.Alice)
			if n%2 == 1 {
				contentType, body = "multipart/form-data; boundary=b",
					"--b\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\n"+text[:size/2]
			}
			more.ask(contentType, size)
			go io.WriteString(more.Conn, body)
			synctest.Wait()
			more.Conn.SetReadDeadline(time.Now().Add(time.Millisecond))
			if a, err := http.ReadResponse(more.r, nil); err == nil {
				l.is.Equal(a.StatusCode, http.StatusServiceUnavailable)
				l.is.Equal(a.Header.Get("Retry-After"), "1")
				refused++
			}
		}
		l.is.True(clients-refused > 4 && clients-refused <= 16) // each holds 1 MiB or more of the 16 MiB of a user
		body := fox("")
		other.ask("application/json", len(body))
		other.say("%s", body)
		status, _ := other.hear()
		l.is.Equal(status, http.StatusOK)

		time.Sleep(5 * time.Minute) // those are given up, and what they held is free
		again := l.another()
		again.ask("application/json", len(body))
		again.say("%s", body)
		status, _ = again.hear()
		l.is.Equal(status, http.StatusOK)
	})
}

// A key has so many requests under way, and no more; another's are served.
func TestRequestsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := connect(t)
		l.longPrompts(1) // an answer that fits in no buffer
		for range 256 {
			l.another().list(page)
		}
		synctest.Wait()
		more := l.another()
		more.list("/api/v1/credits")
		status, body := more.hear()
		l.is.Equal(status, http.StatusServiceUnavailable)
		l.is.True(strings.Contains(body, "256 requests under way"))
		other := l.another()
		other.key = l.Key(t, imagegentest.Bob)
		other.list("/api/v1/credits")
		status, _ = other.hear()
		l.is.Equal(status, http.StatusOK)

		time.Sleep(10 * time.Minute) // nobody took those answers
		again := l.another()
		again.list("/api/v1/credits")
		status, _ = again.hear()
		l.is.Equal(status, http.StatusOK)
	})
}

// faultyList is a store whose list fails from some call on.
type faultyList struct {
	imagegen.Store
	after int // 0: never
	calls int
}

func (f *faultyList) Generations(ctx context.Context, u imagegen.UserID,
	q imagegen.Query) ([]imagegen.Record, bool, error) {
	if f.calls++; f.after > 0 && f.calls > f.after {
		return nil, false, fmt.Errorf("the list is broken")
	}
	return f.Store.Generations(ctx, u, q)
}
