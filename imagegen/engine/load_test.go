package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// stuck is a provider that waits until it is let go.
func stuck(release <-chan struct{}) *scripted {
	return &scripted{caps: anything,
		do: func(ctx context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			select {
			case <-release:
				yield(picture(1024, 1024), nil)
			case <-ctx.Done():
				yield(imagegen.ProviderImage{}, ctx.Err())
			}
		}}
}

func (h *harness) load() engine.Load {
	h.Helper()
	l, err := h.engine.Load(h.Context())
	h.is.NoErr(err)
	return l
}

func (h *harness) unsettled(after imagegen.GenerationID, limit int) ([]imagegen.GenerationID, int) {
	h.Helper()
	rs, total, err := h.engine.Unsettled(h.Context(), after, limit)
	h.is.NoErr(err)
	ids := make([]imagegen.GenerationID, len(rs))
	for i, r := range rs {
		ids[i] = r.ID
	}
	return ids, total
}

func TestLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		h := start(t, stuck(release), func(c *engine.Config) { c.Limits.Concurrency = 2 })
		h.is.Equal(h.load(), engine.Load{Slots: 2})
		var asked []imagegen.GenerationID
		for range 5 {
			asked = append(asked, h.queued(imagegen.GenerateRequest{}).ID)
			synctest.Wait()
		}
		waiting := make(chan error)
		go func() {
			_, err := h.generate(imagegen.GenerateRequest{})
			waiting <- err
		}()
		synctest.Wait()
		l := h.load()
		h.is.Equal(l.Running, 2)
		h.is.Equal(l.Queued, 3)
		h.is.True(l.Waiting >= 1) // the dispatcher is another

		ids, total := h.unsettled("", 3)
		h.is.Equal(total, 5) // who waits for a slot has not been charged
		h.is.Equal(cmp.Diff(asked[:3], ids), "")
		ids, total = h.unsettled(asked[2], 3)
		h.is.Equal(total, 5)
		h.is.Equal(cmp.Diff(asked[3:], ids), "")

		close(release)
		h.is.NoErr(<-waiting)
		for _, id := range asked {
			h.ended(id)
		}
		synctest.Wait()
		h.is.Equal(h.load(), engine.Load{Slots: 2})
		_, total = h.unsettled("", 3)
		h.is.Equal(total, 0)
	})
}

// plainStore is a Store that can nothing more.
type plainStore struct{ imagegen.Store }

func TestPlainStore(t *testing.T) {
	h := start(t, yieldImages(1, nil), func(c *engine.Config) {
		c.Images, c.Spool, c.Store = c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool), plainStore{c.Store}
	})
	_, _, err := h.engine.Unsettled(t.Context(), "", 1)
	h.is.True(errors.Is(err, errors.ErrUnsupported))
	_, err = h.engine.Audit(t.Context())
	h.is.True(errors.Is(err, errors.ErrUnsupported))
	h.is.True(h.engine.LastAudit() == nil)
}

// Users come page by page, from a store that lists them so and from one that does not.
func TestUserPage(t *testing.T) {
	for name, option := range map[string]func(*engine.Config){
		"inspector": func(*engine.Config) {},
		"plain": func(c *engine.Config) {
			c.Images, c.Spool, c.Store = c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool), plainStore{c.Store}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, yieldImages(1, nil), option)
			all := []string{"Ann", "Annette", "Zoë", "ann", "bob", "joann", "zoë"} // as bytes are ordered
			for _, n := range all {
				_, err := h.engine.Accounts().CreateUser(t.Context(), n, "")
				h.is.NoErr(err)
			}
			for contains, want := range map[string][]string{"": all, "ann": {"Ann", "Annette", "ann", "joann"},
				"ZOË": {"Zoë", "zoë"}, "x": nil} {
				for limit := 1; limit <= 8; limit++ {
					q := imagegen.UserQuery{Limit: limit, Contains: contains}
					var got []string
					for pages := 1; ; pages++ {
						p, err := h.engine.Accounts().UserPage(t.Context(), q)
						h.is.NoErr(err)
						for _, u := range p.Users {
							got = append(got, u.Name)
						}
						if q.After = p.Next; q.After == "" {
							h.is.Equal(pages, max(1, (len(want)+limit-1)/limit)) // no page more than it takes
							break
						}
					}
					h.is.Equal(cmp.Diff(want, got), "")
				}
			}
			for _, limit := range []int{-1, imagegen.MaxPageSize + 1} {
				_, err := h.engine.Accounts().UserPage(t.Context(), imagegen.UserQuery{Limit: limit})
				h.is.True(isCode(err, imagegen.ErrInvalidRequest))
			}
			p, err := h.engine.Accounts().UserPage(t.Context(), imagegen.UserQuery{After: "nobody"})
			h.is.NoErr(err)
			h.is.Equal(len(p.Users), 1) // zoë: a cursor need not name who is there
		})
	}
}

func TestAuditIsRemembered(t *testing.T) {
	h := start(t, yieldImages(1, nil))
	h.is.True(h.engine.LastAudit() == nil)
	_, err := h.generate(imagegen.GenerateRequest{})
	h.is.NoErr(err)
	before := time.Now()
	report, err := h.engine.Audit(t.Context())
	h.is.NoErr(err)
	h.is.Equal(report.Generations, 1)
	last := h.engine.LastAudit()
	h.is.Equal(cmp.Diff(report, last.Report), "")
	h.is.NoErr(last.Err)
	h.is.True(!last.At.Before(before) && last.Duration > 0)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = h.engine.Audit(ctx) // broken off: what was found before stands
	h.is.True(err != nil)
	h.is.Equal(h.engine.LastAudit(), last)
}
