package openai_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/httpapi/openai"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

const pupils = 30

// class is a site with Open WebUI in front of it. The key is on behalf of so many pupils of a school, with two credits
// for each.
type class struct {
	*site
	school imagegen.User
	native string // the address of the native interface
}

func serveClass(t *testing.T) *class {
	t.Helper()
	c := &class{site: serve(t, openai.Options{}, withAlias)}
	var err error
	c.school, err = c.Accounts().CreateUser(t.Context(), "school", "EDU")
	c.is.NoErr(err)
	c.Grant(t, c.school.ID, 100)
	raw, _, err := c.Accounts().MintMembersKey(t.Context(), c.school.ID, "chat", time.Time{}, pupils,
		imagegen.KeyLimits{Credits: 2})
	c.is.NoErr(err)
	c.key = raw.Reveal()
	s := httptest.NewServer(httpapi.NewHandler(c.Engine, httpapi.Options{}))
	t.Cleanup(s.Close)
	c.native = s.URL
	return c
}

// by are the headers that Open WebUI adds for one of its users: open-webui/open-webui,
// backend/open_webui/utils/headers.py, include_user_info_headers.
func by(id, name string) []string {
	return []string{"X-OpenWebUI-User-Name", strings.ReplaceAll(name, " ", "%20"), "X-OpenWebUI-User-Id", id,
		"X-OpenWebUI-User-Email", id + "@school.example", "X-OpenWebUI-User-Role", "user"}
}

func pupil(n int) []string {
	return by(fmt.Sprintf("7b1c9f00-0000-4000-8000-%012d", n), fmt.Sprint("Pupil ", n))
}

// ask sends what was recorded of Open WebUI, for one of its users.
func (c *class) ask(what string, header ...string) answer {
	c.Helper()
	q, contentType := recorded[what], "application/json"
	if q.parts != nil {
		contentType, q.body = formOf(q.parts...)
	}
	return c.post(q.path, q.body, append(header, "Content-Type", contentType)...)
}

// sees are the generations that somebody lists.
func (c *class) sees(header ...string) (ids []string) {
	c.Helper()
	r, err := http.NewRequestWithContext(c.Context(), http.MethodGet, c.native+"/api/v1/generations", nil)
	c.is.NoErr(err)
	r.Header.Set("Authorization", "Bearer "+c.key)
	for pair := range slices.Chunk(header, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	a, err := http.DefaultClient.Do(r)
	c.is.NoErr(err)
	defer a.Body.Close()
	var page struct{ Data []struct{ ID string } }
	c.is.Equal(a.StatusCode, http.StatusOK)
	c.is.NoErr(json.NewDecoder(a.Body).Decode(&page))
	for _, g := range page.Data {
		ids = append(ids, g.ID)
	}
	return ids
}

// written is what was written of people: how many users there are, and rows of the trail.
func (c *class) written() [2]int {
	c.Helper()
	users, err := c.Accounts().Users(c.Context())
	c.is.NoErr(err)
	trail, err := c.Trail().Trail(c.Context(), account.TrailQuery{Limit: account.MaxTrailPage})
	c.is.NoErr(err)
	return [2]int{len(users), len(trail.Rows)}
}

// Thirty pupils ask at once, as Open WebUI sends it: each makes and edits an image, is stopped at their own limit, and
// sees what they made themselves.
func TestClassBehindOpenWebUI(t *testing.T) {
	c := serveClass(t)
	before := c.written()
	c.is.Equal(c.do(http.MethodGet, "/v1/models", nil).StatusCode, http.StatusOK) // the page for its settings
	c.is.Equal(c.do(http.MethodGet, "/v1/models", nil, by("admin", "The Admin")...).StatusCode, http.StatusOK)
	c.is.Equal(c.written(), before)

	var answers [pupils][2]answer
	var last [pupils]answer
	var asking sync.WaitGroup
	for n := range pupils {
		asking.Go(func() {
			answers[n] = [2]answer{c.ask("Open WebUI", pupil(n)...), c.ask("Open WebUI, edit", pupil(n)...)}
			last[n] = c.ask("Open WebUI", pupil(n)...)
		})
	}
	asking.Wait()
	for n := range pupils {
		var made []string
		for _, a := range answers[n] {
			got := c.made(a)
			c.pictures(got, 1, 1024, 1024)
			made = append(made, got.ID)
		}
		message := c.refused(last[n], http.StatusPaymentRequired, imagegen.CodeInsufficientCredits, "")
		c.is.True(strings.Contains(message, "your account is limited to 2 credits in all; it has used 2"))
		slices.Reverse(made) // the newest comes first
		c.is.Equal(cmp.Diff(made, c.sees(pupil(n)...)), "")
	}
	c.refused(c.ask("Open WebUI", pupil(pupils)...), http.StatusForbidden, imagegen.CodeChargeRefused, "")
	b, err := c.As(c.school.ID).Balance(t.Context())
	c.is.NoErr(err)
	c.is.Equal(b.Credits, imagegen.Credits(100-2*pupils))
	c.is.Equal(c.written(), [2]int{before[0] + pupils, before[1] + pupils})
}

// What somebody calls themselves leads to nobody else, and a name that nobody can have, or for which nothing was
// charged, is written nowhere.
func TestForgedNamesBehindOpenWebUI(t *testing.T) {
	c := serveClass(t)
	alices, err := c.As(imagegentest.Alice).Generate(t.Context(), imagegen.GenerateRequest{Model: "fake-1",
		Prompt: "a fox", Size: imagegen.Size{Width: 64, Height: 48}})
	c.is.NoErr(err)
	before := c.written()
	for _, id := range []string{"", " ", "a\tb", "Zo\xeb", "\u200b", strings.Repeat("x", 129),
		strings.Repeat("x", 200_000)} {
		c.refused(c.ask("Open WebUI", by(id, "x")...), http.StatusBadRequest, imagegen.CodeInvalidRequest, "")
	}
	for n := range 200 {
		id := fmt.Sprint("flood ", n)
		c.is.Equal(c.do(http.MethodGet, "/v1/models", nil, by(id, id)...).StatusCode, http.StatusOK)
		c.refused(c.post(generations, fox(`,"n":99`), by(id, id)...), http.StatusBadRequest,
			imagegen.CodeInvalidRequest, "n")
		c.is.Equal(len(c.sees(by(id, id)...)), 0)
	}
	c.is.Equal(c.written(), before)

	strange := []string{string(imagegentest.Alice), "school", string(c.school.ID), "school/zoe", "../school", "..", "/",
		"%2e%2e%2f", "Zoë 学校", "alice@school.example", "' or 1=1 --", strings.Repeat("é", 64)}
	for n, id := range strange {
		c.is.Equal(len(c.sees(by(id, id)...)), 0)
		got := c.made(c.ask("Open WebUI", by(id, id)...))
		c.is.Equal(c.sees(by(id, id)...), []string{got.ID})
		c.is.Equal(c.written(), [2]int{before[0] + n + 1, before[1] + n + 1})
		u, err := c.Accounts().UserByName(t.Context(), "school/"+id)
		c.is.NoErr(err)
		c.is.Equal(u.Sponsor, c.school.ID)
	}
	c.credits(100 - 1) // of Alice, who has what she made alone
	page, err := c.As(imagegentest.Alice).Generations(t.Context(), imagegen.Query{})
	c.is.NoErr(err)
	c.is.Equal(len(page.Generations), 1)
	c.is.Equal(page.Generations[0].ID, alices.ID)
}
