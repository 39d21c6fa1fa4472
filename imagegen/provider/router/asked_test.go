package router_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/router"
)

// MemberDone gets each member that was called, with the time that it took and its ending.
func TestMemberDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		p := build(t, router.Config{}, member("a", fails(imagegen.ClassUnavailable)),
			member("b", lasts(5*time.Second, works)))
		var done []string
		ask := func(ctx context.Context) {
			q := request(2)
			q.MemberDone = func(member string, took time.Duration, images int, err error) {
				done = append(done, fmt.Sprint(member, " ", took, " ", images, " ", imagegen.EndingOf(images, err)))
			}
			call(ctx, p, q)
		}
		ask(t.Context())
		is.Equal(cmp.Diff([]string{"a 0s 0 unavailable", "b 5s 2 ok"}, done), "")

		done = nil
		stopped, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { stop(imagegen.ErrStopping) })
		p = build(t, router.Config{}, member("b", lasts(5*time.Second, works)))
		ask(stopped)
		is.Equal(cmp.Diff([]string{"b 1s 0 stopped"}, done), "")
	})
}
