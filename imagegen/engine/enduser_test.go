package engine_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// An upstream that is sent who asks gets the same for one user always, another for another one and by another key, and
// nothing where the model does not say so.
func TestEndUser(t *testing.T) {
	var sent []string
	p := yieldImages(1, nil)
	p.caps.EndUser = true
	make1 := p.do
	p.do = func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
		sent = append(sent, r.EndUser)
		make1(ctx, r, yield)
	}
	h := start(t, p, func(c *engine.Config) {
		silent := c.Models[0]
		silent.ID = "silent"
		c.Models, c.EndUserKey = append(c.Models, silent), []byte("a secret")
		c.Models[0].SendUser = true
	})
	_, err := h.db.Grant(t.Context(), imagegen.Grant{User: bob, Credits: 9})
	h.is.NoErr(err)
	ask := func(u imagegen.UserID, model string) {
		t.Helper()
		_, err := h.engine.As(u).Generate(t.Context(), fox(imagegen.GenerateRequest{Model: model}))
		h.is.NoErr(err)
	}
	ask(alice, "m")
	ask(bob, "m")
	ask(alice, "silent")
	h.restart()
	ask(alice, "m")
	h.cfg.EndUserKey = []byte("another secret")
	h.restart()
	ask(alice, "m")
	h.is.Equal(sent[2], "")
	h.is.Equal(sent[0], sent[3])
	h.is.True(sent[0] != sent[1] && sent[0] != sent[4])
	for _, i := range []int{0, 1, 3, 4} {
		h.is.True(regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(sent[i]))
	}

	m := h.cfg.Models[0]
	p.caps.EndUser = false
	err = h.setModels(m)
	h.is.True(err != nil && strings.Contains(err.Error(), "no field for SendUser"))
	p.caps.EndUser, h.cfg.EndUserKey = true, nil
	_, err = engine.New(h.cfg)
	h.is.True(err != nil && strings.Contains(err.Error(), "Config.EndUserKey is required"))
}
